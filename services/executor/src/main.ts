import { waitUntilReady } from '@gantry/env';
import { checkNats, connectBus, toNatsConnectionSettings } from '@gantry/events';
import { startTracing } from '@gantry/tracing';
import { pino } from 'pino';
import { readExecutorEnv } from './env';
import { startExecutor } from './executor';
import { assertReachable, dropPrivileges } from './host/drop-privileges';
import { acquireIdentity } from './host/identity';
import { serveMetrics } from './host/metrics';
import { findInterpreter } from './runners/python/interpreter';
import { prepareCgroups } from './sandbox/cgroup';
import { explainSandboxError } from './sandbox/explain-sandbox-error';
import { prepareLayout } from './sandbox/layout';

async function main() {
  const env = readExecutorEnv();
  const log = pino({ name: 'executor', level: env.LOG_LEVEL, base: { service: 'executor' } });
  const owner = { uid: env.EXECUTOR_UID, gid: env.EXECUTOR_GID ?? env.EXECUTOR_UID };
  const asRoot = process.getuid?.() === 0;
  const stayRoot = asRoot && env.EXECUTOR_ALLOW_ROOT !== undefined;

  if (asRoot) prepareCgroups(owner.uid, owner.gid);
  const layout = prepareLayout(env.EXECUTOR_DIR, asRoot ? owner : null);
  if (stayRoot) log.warn('continuing to run as root, as configured; sandboxes still run as a different user');
  else if (asRoot) dropPrivileges(owner.uid, owner.gid);
  assertReachable(env.EXECUTOR_DIR);
  const endTracing = startTracing('executor', env, log);
  const interpreter = findInterpreter(env.PYTHON);
  if (!env.UV) log.info('UV is not set to the path of a uv executable: using pip instead, which is slower');

  const identity = acquireIdentity(env.EXECUTOR_DIR);
  const natsSettings = toNatsConnectionSettings(env);
  const nats = { ...natsSettings, creds: natsSettings.creds ?? identity.creds };
  await waitUntilReady([() => checkNats(nats)], (problems) => {
    for (const problem of problems) log.error(`not ready: ${problem}`);
  });
  const bus = await connectBus({ ...nats, anonymous: identity.name, name: 'executor', log });
  const executor = await startExecutor({
    bus,
    log,
    layout,
    interpreter,
    bwrap: env.BWRAP,
    uv: env.UV ?? null,
    runAs: stayRoot ? owner : null,
    slots: env.EXECUTOR_SLOTS,
    sources: env.EXECUTOR_SOURCES,
    isolation: env.EXECUTOR_ISOLATION,
    storeBytesMax: env.EXECUTOR_STORE_BYTES,
    warmBytes: env.EXECUTOR_WARM_BYTES,
    egressAllowPrivate: env.EGRESS_ALLOW_PRIVATE,
    packageIndex: {
      indexUrl: env.PIP_NO_INDEX ? null : (env.PIP_INDEX_URL ?? interpreter.publicIndex?.url ?? null),
      extraIndexUrls: env.PIP_NO_INDEX ? [] : env.PIP_EXTRA_INDEX_URL,
      findLinks: env.PIP_FIND_LINKS,
      fileHosts: [
        ...env.EXECUTOR_PIP_FILE_HOSTS,
        ...(interpreter.publicIndex ? [interpreter.publicIndex.fileHost] : []),
      ],
    },
  }).catch((err) => {
    throw new Error(explainSandboxError(err));
  });
  const metrics = await serveMetrics({
    registry: executor.metrics.registry,
    host: env.HOST,
    port: env.METRICS_PORT,
    healthy: executor.healthy,
  });

  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'draining');
    await executor.stop(env.EXECUTOR_DRAIN_MS);
    await bus.nc.drain().catch(() => {});
    metrics.close();
    await endTracing();
    log.info('stopped');
    process.exit(0);
  };
  process.on('SIGTERM', () => void stop('SIGTERM'));
  process.on('SIGINT', () => void stop('SIGINT'));
}

main().catch((err) => {
  process.stderr.write(`The executor can't start: ${err.message}\n`);
  process.exit(1);
});
