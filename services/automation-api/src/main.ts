import { externalIssuer } from '@gantry/auth';
import { natsAddress } from '@gantry/events';
import { createLogger, readEnv, serve } from '@gantry/http';
import { objectStoreSettings } from '@gantry/object-store';
import { startAutomationApi } from './automation-api';
import { envSchema } from './env';

async function main() {
  const env = readEnv(envSchema);
  const log = createLogger('automation-api', env.LOG_LEVEL);
  const { app, drain, close } = await startAutomationApi({
    databaseUrl: env.DATABASE_URL,
    nats: natsAddress(env),
    baseUrl: env.BASE_URL,
    dashboardUrl: env.DASHBOARD_URL,
    skillsUrl: env.SKILLS_URL,
    encryptionKeys: env.ENCRYPTION_KEYS,
    objectStore: objectStoreSettings(env),
    dashboardDir: env.DASHBOARD_DIR,
    ...(env.API_DOCS_DIR && { apiDocsDir: env.API_DOCS_DIR }),
    jwt: {
      jwksUrl: env.JWKS_URL,
      issuer: env.JWT_ISSUER ?? env.BASE_URL,
      audience: env.JWT_AUDIENCE,
      externalIssuer: externalIssuer(env),
    },
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
    errorShape: 'error',
    host: env.HOST,
    port: env.PORT,
    metricsPort: env.METRICS_PORT,
    log,
    drain,
    close,
  });
}

main().catch((err) => {
  process.stderr.write(`automation-api could not start: ${err?.stack ?? err}\n`);
  process.exit(1);
});
