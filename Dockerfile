# Every image of Gantry, as targets: worker-api, automation-api, skills-api, executor, gateway, setup.
#
#   docker build --target worker-api --tag gantry/worker-api:dev .
#
# Commands are programs in /app/bin, without an entry point around them: serve, health and, where it makes sense, migrate, enrol,
# setup, generate. packages/deploy/prune.mjs says what each image contains.

FROM node:24-bookworm-slim AS build
WORKDIR /src
ENV CI=true PNPM_HOME=/pnpm npm_config_yes=true TURBO_TELEMETRY_DISABLED=1 DO_NOT_TRACK=1
# The CA of a proxy that intercepts TLS, as PEM. This stage is in no image, so no image trusts it.
ARG BUILD_CA=
RUN printf '%s\n' "$BUILD_CA" > /tmp/build-ca.pem
ENV NODE_EXTRA_CA_CERTS=/tmp/build-ca.pem
# Dependencies change less often than code: this layer needs the lockfile alone.
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml .npmrc ./
RUN npx pnpm@10.34.9 fetch
COPY . .
RUN node packages/platform/bootstrap.mjs build && node packages/deploy/prune.mjs /out

FROM node:24-bookworm-slim AS base
ARG COMMIT=unknown
LABEL org.opencontainers.image.title="Gantry" \
      org.opencontainers.image.revision="$COMMIT" \
      dev.gantry.sbom="/app/sbom.cdx.json"
# An idle service keeps what its busiest moment needed, unless told otherwise: see nodeFlags in packages/platform.
ENV NODE_ENV=production \
    NODE_OPTIONS="--max-semi-space-size=4 --max-old-space-size=512 --v8-pool-size=1" \
    MALLOC_ARENA_MAX=2 \
    MALLOC_TRIM_THRESHOLD_=1048576 \
    PATH=/app/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    PORT=3000 \
    METRICS_PORT=9090
WORKDIR /app
# The official image's is a shell script.
ENTRYPOINT []
CMD ["serve"]
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=4s --start-period=60s --retries=4 CMD ["health"]

# A named volume starts as a copy of what the image has at its place: that makes it writable for this user.
FROM base AS objects
RUN install --directory --owner 10001 --group 10001 /var/lib/gantry/objects

FROM objects AS worker-api
COPY --from=build /out/worker-api /app
USER 10001:10001

FROM objects AS automation-api
ENV DASHBOARD_DIR=/app/packages/dashboard/dist API_DOCS_DIR=/app/packages/api-docs/dist
COPY --from=build /out/automation-api /app
USER 10001:10001

FROM base AS skills-api
COPY --from=build /out/skills-api /app
USER 10001:10001

FROM base AS executor
RUN apt-get update \
 && apt-get install --yes --no-install-recommends bubblewrap ca-certificates python3 python3-pip \
 && rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/* \
 && install --directory --owner 10001 --group 10001 /var/lib/gantry/executor
ENV EXECUTOR_DIR=/var/lib/gantry/executor UV=/opt/uv/bin/uv
COPY --from=build /out/executor /app
# Outside of /usr, which runs can see. The CA of a proxy that intercepts TLS is used here and stays in no layer.
RUN --mount=type=bind,from=build,source=/tmp/build-ca.pem,target=/tmp/build-ca.pem \
    --mount=type=tmpfs,target=/run/ca \
    cat /etc/ssl/certs/ca-certificates.crt /tmp/build-ca.pem > /run/ca/bundle.pem \
 && PIP_CERT=/run/ca/bundle.pem python3 -m pip install --quiet --no-cache-dir --no-deps --no-compile --only-binary :all: \
    --require-hashes --target /opt/uv --requirement /app/services/executor/uv.txt
USER 10001:10001

FROM base AS gateway
RUN apt-get update \
 && apt-get install --yes --no-install-recommends nginx-light \
 && rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/*
COPY --from=build /out/gateway /app
USER 10001:10001
# Lets requests under way finish.
STOPSIGNAL SIGQUIT

FROM base AS setup
RUN for reader in worker-api automation-api skills-api postgres nats nats-seeds executor-enrolment s3 grafana executors; do \
      install --directory --owner 10001 --group 10001 "/secrets/$reader"; \
    done
COPY --from=build /out/setup /app
USER 10001:10001
HEALTHCHECK NONE
CMD ["generate", "/secrets"]
