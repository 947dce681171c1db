import type { TokenHasher } from '@gantry/auth';
import type { Bus } from '@gantry/events';
import type { RateCount } from '@gantry/limits';
import type { ObjectStore } from '@gantry/object-store';
import type { Sql } from '@gantry/postgres';
import type { RetentionBounds, RunEngine } from '@gantry/run-engine';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { PrismaClient } from '../generated/prisma/client';
import type { Runnables } from './runnable';

export interface StartRunDeps {
  pool: Pool;
  engine: RunEngine;
  objects: ObjectStore;
  runnables: Runnables;
  /** Public address of the dashboard, without a slash at the end. */
  dashboardUrl: string;
  now: () => Date;
  /** Workers' own limits of runs in a minute, counted over all replicas. */
  rates: RateCount;
}

export interface RunDeps extends StartRunDeps {
  prisma: PrismaClient;
  bus: Bus;
  /** Checks links that show a run to their holders. */
  hasher: TokenHasher;
  retention: RetentionBounds;
  /** The latest of a failed run. */
  findRepairOfRun: (sql: Sql, workspaceId: string, runId: string) => Promise<{ id: string } | undefined>;
  /** Undefined unless the run answers a message in a conversation with an agent worker. */
  findConversationOfRun: (sql: Sql, workspaceId: string, runId: string) => Promise<string | undefined>;
  /** Template of the address of a run's trace; undefined: the operator has set none. */
  traceUrlTemplate: string | undefined;
  log: Logger;
}
