import { natsEnv } from '@gantry/events';
import { databaseEnv } from '@gantry/postgres';
import { traceLinkEnv, tracingEnv } from '@gantry/tracing';
import { z } from 'zod';

/** Settings that every service has. */
export const commonEnv = {
  NODE_ENV: z.string().default('production'),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  HOST: z.string().default('0.0.0.0'),
  PORT: z.coerce.number().int().min(0).max(65535),
  METRICS_PORT: z.coerce.number().int().min(0).max(65535),
  ...databaseEnv,
  ...natsEnv,
  ...tracingEnv,
  ...traceLinkEnv,
  /** Public addresses of the three surfaces, without a trailing slash. */
  BASE_URL: z.url().transform(stripTrailingSlashes),
  DASHBOARD_URL: z.url().transform(stripTrailingSlashes),
  SKILLS_URL: z.url().transform(stripTrailingSlashes),
  RATE_LIMIT_REQUESTS_PER_MINUTE: z.coerce.number().int().min(1).default(600),
  RATE_LIMIT_RUNS_PER_MINUTE: z.coerce.number().int().min(1).default(120),
  RATE_LIMIT_SIGN_INS_PER_MINUTE: z.coerce.number().int().min(1).default(10),
  STREAMS_PER_CREDENTIAL_MAX: z.coerce.number().int().min(1).default(20),
  STREAMS_PER_ADDRESS_MAX: z.coerce.number().int().min(1).default(100),
};

function stripTrailingSlashes(url: string): string {
  return url.replace(/(?<!\/)\/+$/, '');
}

const common = z.object(commonEnv);
export type CommonEnv = z.infer<typeof common>;
