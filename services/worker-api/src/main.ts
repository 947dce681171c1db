import path from 'node:path';
import { getExternalIssuer } from '@gantry/auth';
import { toNatsConnectionSettings } from '@gantry/events';
import { checkObjectStore, openObjectStore, toObjectStoreSettings } from '@gantry/object-store';
import { toPoolSettings } from '@gantry/postgres';
import { toRetentionBounds } from '@gantry/run-engine';
import { runService } from '@gantry/service';
import { envSchema, getOidcSettings } from './env';
import { startWorkerApi } from './worker-api';

runService({
  name: 'worker-api',
  errorShape: 'detail',
  dir: path.dirname(__dirname),
  envSchema,
  checks: (env) => {
    const objects = openObjectStore({ ...toObjectStoreSettings(env), publicUrl: env.BASE_URL });
    return [() => checkObjectStore(objects)];
  },
  start: (env, settings) =>
    startWorkerApi({
      ...settings,
      databaseUrl: env.DATABASE_URL,
      pool: toPoolSettings(env),
      nats: toNatsConnectionSettings(env),
      streamReplicas: env.NATS_STREAM_REPLICAS,
      encryptionKeys: env.ENCRYPTION_KEYS,
      tokenPeppers: env.TOKEN_PEPPERS,
      objectStore: toObjectStoreSettings(env),
      retention: toRetentionBounds(env),
      surfaceUrls: {
        worker: `http://127.0.0.1:${env.PORT}`,
        automation: env.AUTOMATION_API_URL ?? env.DASHBOARD_URL,
        skills: env.SKILLS_API_URL ?? env.SKILLS_URL,
      },
      setupToken: env.SETUP_TOKEN,
      jwt: {
        issuer: env.JWT_ISSUER ?? env.BASE_URL,
        audience: env.JWT_AUDIENCE,
        externalIssuer: getExternalIssuer(env),
      },
      oidc: getOidcSettings(env),
      smtp: { url: env.SMTP_URL, from: env.SMTP_FROM },
      outboundAllow: env.OUTBOUND_ALLOW_CIDRS,
      oauthApps: env.OAUTH_APPS,
      models: { providers: env.MODEL_PROVIDERS, aliases: env.MODEL_ALIASES },
      auditRetentionDays: env.AUDIT_RETENTION_DAYS,
      computeUsdPerCpuHour: env.COMPUTE_USD_PER_CPU_HOUR,
    }),
});
