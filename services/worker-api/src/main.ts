import { evictOnEvents, externalIssuer, trackLastUse } from '@gantry/auth';
import { connectBus, ensureStreams, startRelay } from '@gantry/events';
import { createLogger, health, postgresCheck, readEnv, serve } from '@gantry/http';
import { createApp } from './app';
import { consumeAuditEntries } from './audit/audit-events';
import { openDatabase } from './database';
import { envSchema, oidcSettings } from './env';
import { startHousekeeping } from './housekeeping';
import { serveIntrospection } from './identity/introspection';
import { createMailer } from './mail/mailer';
import { consumePurges } from './workspaces/delete-workspace';

async function main() {
  const env = readEnv(envSchema);
  const log = createLogger('worker-api', env.LOG_LEVEL);
  const database = openDatabase(env.DATABASE_URL, log);
  const { pool } = database;
  const bus = await connectBus({ url: env.NATS_URL, name: 'worker-api', log });
  await ensureStreams(bus);
  const relay = startRelay({ pool, bus, service: 'worker-api', log });
  const tokenUse = trackLastUse({ pool, table: 'tokens', log });
  const mailer = createMailer({ smtpUrl: env.SMTP_URL, from: env.SMTP_FROM, log });
  const checks = health({ postgres: postgresCheck(pool), nats: () => bus.nc.flush() });
  const { app, introspect, identities, signingKeys, vault } = createApp({
    database,
    health: checks,
    tokenUse,
    announce: relay.kick,
    encryptionKeys: env.ENCRYPTION_KEYS,
    tokenPeppers: env.TOKEN_PEPPERS,
    setupToken: env.SETUP_TOKEN,
    baseUrl: env.BASE_URL,
    dashboardUrl: env.DASHBOARD_URL,
    skillsUrl: env.SKILLS_URL,
    jwtIssuer: env.JWT_ISSUER ?? env.BASE_URL,
    jwtAudience: env.JWT_AUDIENCE,
    externalIssuer: externalIssuer(env),
    oidc: oidcSettings(env),
    mailer,
    log,
    rateLimits: {
      requestsPerMinute: env.RATE_LIMIT_REQUESTS_PER_MINUTE,
      runsPerMinute: env.RATE_LIMIT_RUNS_PER_MINUTE,
      signInsPerMinute: env.RATE_LIMIT_SIGN_INS_PER_MINUTE,
    },
  });
  const eviction = evictOnEvents(identities, { bus, log });
  const responder = serveIntrospection({ bus, introspect, log });
  const consumers = [await consumeAuditEntries({ bus, pool, log }), await consumePurges({ bus, pool, vault, log })];
  const housekeeping = startHousekeeping({
    pool,
    signingKeys,
    vault,
    auditRetentionDays: env.AUDIT_RETENTION_DAYS,
    announce: relay.kick,
    log,
  });
  await serve({
    app,
    host: env.HOST,
    port: env.PORT,
    metricsPort: env.METRICS_PORT,
    log,
    drain: () => {
      checks.drain();
      responder.stop();
      housekeeping.stop();
    },
    close: async () => {
      eviction.stop();
      for (const consumer of consumers) await consumer.stop();
      mailer.close();
      await tokenUse.flush();
      await relay.stop();
      await bus.nc.drain();
      await database.close();
    },
  });
}

main().catch((err) => {
  process.stderr.write(`worker-api could not start: ${err?.stack ?? err}\n`);
  process.exit(1);
});
