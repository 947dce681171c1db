/** Everything of the service that speaks HTTP, put together. Nothing here listens, connects or reads the environment. */
import path from 'node:path';
import { createAuthenticator, type Identify } from '@gantry/auth';
import { createSurface, type Health, type RateLimits } from '@gantry/http';
import type { Express } from 'express';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { meOperations } from './me/me-routes';

export interface AppOptions {
  pool: Pool;
  health: Health;
  identify: Identify;
  /** Of the three surfaces. */
  publicUrls: string[];
  log: Logger;
  rateLimits?: RateLimits;
  validateResponses?: boolean;
}

export function createApp(options: AppOptions): Express {
  const { pool, health, identify, publicUrls, log } = options;
  return createSurface({
    openapiFile: path.resolve(__dirname, '../../../openapi/skills.yaml'),
    operations: { ...health.operations, ...meOperations },
    authenticate: createAuthenticator({ identify, publicUrls }),
    errorShape: 'error',
    pool,
    log,
    ...(options.rateLimits && { rateLimits: options.rateLimits }),
    validateResponses: options.validateResponses ?? false,
  });
}
