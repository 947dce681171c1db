import { externalIssuer } from '@gantry/auth';
import { natsAddress } from '@gantry/events';
import { createLogger, readEnv, serve } from '@gantry/http';
import { objectStoreSettings } from '@gantry/object-store';
import { envSchema, oidcSettings } from './env';
import { startWorkerApi } from './worker-api';

async function main() {
  const env = readEnv(envSchema);
  const log = createLogger('worker-api', env.LOG_LEVEL);
  const { app, drain, close } = await startWorkerApi({
    databaseUrl: env.DATABASE_URL,
    nats: natsAddress(env),
    baseUrl: env.BASE_URL,
    dashboardUrl: env.DASHBOARD_URL,
    skillsUrl: env.SKILLS_URL,
    encryptionKeys: env.ENCRYPTION_KEYS,
    tokenPeppers: env.TOKEN_PEPPERS,
    objectStore: objectStoreSettings(env),
    setupToken: env.SETUP_TOKEN,
    jwt: {
      issuer: env.JWT_ISSUER ?? env.BASE_URL,
      audience: env.JWT_AUDIENCE,
      externalIssuer: externalIssuer(env),
    },
    oidc: oidcSettings(env),
    smtp: { url: env.SMTP_URL, from: env.SMTP_FROM },
    outboundAllow: env.OUTBOUND_ALLOW_CIDRS,
    auditRetentionDays: env.AUDIT_RETENTION_DAYS,
    computeUsdPerCpuHour: env.COMPUTE_USD_PER_CPU_HOUR,
    log,
    rateLimits: {
      requestsPerMinute: env.RATE_LIMIT_REQUESTS_PER_MINUTE,
      runsPerMinute: env.RATE_LIMIT_RUNS_PER_MINUTE,
      signInsPerMinute: env.RATE_LIMIT_SIGN_INS_PER_MINUTE,
    },
    streamLimits: { perCredential: env.STREAMS_PER_CREDENTIAL_MAX, perAddress: env.STREAMS_PER_ADDRESS_MAX },
  });
  await serve({
    app,
    errorShape: 'detail',
    host: env.HOST,
    port: env.PORT,
    metricsPort: env.METRICS_PORT,
    log,
    drain,
    close,
  });
}

main().catch((err) => {
  process.stderr.write(`worker-api could not start: ${err?.stack ?? err}\n`);
  process.exit(1);
});
