import type { Bus, WorkspaceClosures } from '@gantry/events';
import type { ObjectStore } from '@gantry/object-store';
import type { RunEngine } from '@gantry/run-engine';
import type { SecretStore } from '@gantry/vault';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { RunnableCache } from './artifacts/runnable';
import type { RecentAutomations } from './automations/current-version';
import type { PrismaClient } from './generated/prisma/client';

/** Dependencies shared by the handlers and services of this process. */
export interface Deps {
  prisma: PrismaClient;
  pool: Pool;
  bus: Bus;
  closures: WorkspaceClosures;
  engine: RunEngine;
  objects: ObjectStore;
  secrets: SecretStore;
  runnables: RunnableCache;
  recent: RecentAutomations;
  /** Public address of this surface, without a trailing slash. */
  dashboardUrl: string;
  /** URL template of a run's trace; undefined: the operator has set none. */
  traceUrlTemplate: string | undefined;
  now: () => Date;
  log: Logger;
}
