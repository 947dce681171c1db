import path from 'node:path';
import { getExternalIssuer } from '@gantry/auth';
import { toNatsConnectionSettings } from '@gantry/events';
import { checkObjectStore, openObjectStore, toObjectStoreSettings } from '@gantry/object-store';
import { toPoolSettings } from '@gantry/postgres';
import { toRetentionBounds } from '@gantry/run-engine';
import { runService } from '@gantry/service';
import { startAutomationApi } from './automation-api';
import { envSchema } from './env';

runService({
  name: 'automation-api',
  errorShape: 'error',
  dir: path.dirname(__dirname),
  envSchema,
  checks: (env) => {
    const objects = openObjectStore({ ...toObjectStoreSettings(env), publicUrl: env.DASHBOARD_URL });
    return [() => checkObjectStore(objects)];
  },
  start: (env, settings) =>
    startAutomationApi({
      ...settings,
      databaseUrl: env.DATABASE_URL,
      pool: toPoolSettings(env),
      nats: toNatsConnectionSettings(env),
      encryptionKeys: env.ENCRYPTION_KEYS,
      objectStore: toObjectStoreSettings(env),
      retention: toRetentionBounds(env),
      dashboardDir: env.DASHBOARD_DIR,
      ...(env.API_DOCS_DIR && { apiDocsDir: env.API_DOCS_DIR }),
      jwt: {
        jwksUrl: env.JWKS_URL,
        issuer: env.JWT_ISSUER ?? env.BASE_URL,
        audience: env.JWT_AUDIENCE,
        externalIssuer: getExternalIssuer(env),
      },
    }),
});
