import type { Bus } from '@gantry/events';
import type { RunEngine } from '@gantry/run-engine';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { PrismaClient } from '../generated/prisma/client';

export interface SystemDeps {
  prisma: PrismaClient;
  pool: Pool;
  bus: Bus;
  engine: RunEngine;
  mailer: { isConfigured: boolean };
  /** Public addresses of the worker surface and the dashboard, without a slash at the end. */
  baseUrl: string;
  dashboardUrl: string;
  now: () => Date;
  log: Logger;
}
