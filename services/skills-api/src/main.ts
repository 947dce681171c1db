import { remoteIdentify } from '@gantry/auth';
import { connectBus, ensureStreams, startRelay } from '@gantry/events';
import { createLogger, health, postgresCheck, readEnv, serve } from '@gantry/http';
import { createApp } from './app';
import { openPool } from './database';
import { envSchema } from './env';

async function main() {
  const env = readEnv(envSchema);
  const log = createLogger('skills-api', env.LOG_LEVEL);
  const pool = openPool(env.DATABASE_URL, log);
  const bus = await connectBus({ url: env.NATS_URL, name: 'skills-api', log });
  await ensureStreams(bus);
  const relay = startRelay({ pool, bus, service: 'skills-api', log });
  const checks = health({ postgres: postgresCheck(pool), nats: () => bus.nc.flush() });
  const identities = remoteIdentify({
    bus,
    jwksUrl: env.JWKS_URL,
    issuer: env.JWT_ISSUER ?? env.BASE_URL,
    audience: env.JWT_AUDIENCE,
    log,
  });
  const app = createApp({
    pool,
    health: checks,
    identify: identities.identify,
    publicUrls: [env.BASE_URL, env.DASHBOARD_URL, env.SKILLS_URL],
    log,
    rateLimits: {
      requestsPerMinute: env.RATE_LIMIT_REQUESTS_PER_MINUTE,
      runsPerMinute: env.RATE_LIMIT_RUNS_PER_MINUTE,
      signInsPerMinute: env.RATE_LIMIT_SIGN_INS_PER_MINUTE,
    },
  });
  await serve({
    app,
    host: env.HOST,
    port: env.PORT,
    metricsPort: env.METRICS_PORT,
    log,
    drain: checks.drain,
    close: async () => {
      identities.stop();
      await relay.stop();
      await bus.nc.drain();
      await pool.end();
    },
  });
}

main().catch((err) => {
  process.stderr.write(`skills-api could not start: ${err?.stack ?? err}\n`);
  process.exit(1);
});
