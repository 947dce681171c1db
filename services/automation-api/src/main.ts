import path from 'node:path';
import { externalIssuer } from '@gantry/auth';
import { natsAddress } from '@gantry/events';
import { objectStoreSettings, openObjectStore, storeProblems } from '@gantry/object-store';
import { poolSettings } from '@gantry/postgres';
import { retentionBounds } from '@gantry/run-engine';
import { runService } from '@gantry/service';
import { startAutomationApi } from './automation-api';
import { envSchema } from './env';

runService({
  name: 'automation-api',
  errorShape: 'error',
  dir: path.dirname(__dirname),
  envSchema,
  checks: (env) => {
    const objects = openObjectStore({ ...objectStoreSettings(env), publicUrl: env.DASHBOARD_URL });
    return [() => storeProblems(objects)];
  },
  start: (env, settings) =>
    startAutomationApi({
      ...settings,
      databaseUrl: env.DATABASE_URL,
      pool: poolSettings(env),
      nats: natsAddress(env),
      encryptionKeys: env.ENCRYPTION_KEYS,
      objectStore: objectStoreSettings(env),
      retention: retentionBounds(env),
      dashboardDir: env.DASHBOARD_DIR,
      ...(env.API_DOCS_DIR && { apiDocsDir: env.API_DOCS_DIR }),
      jwt: {
        jwksUrl: env.JWKS_URL,
        issuer: env.JWT_ISSUER ?? env.BASE_URL,
        audience: env.JWT_AUDIENCE,
        externalIssuer: externalIssuer(env),
      },
    }),
});
