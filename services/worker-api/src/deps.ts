import type { TokenHasher } from '@gantry/auth';
import type { Bus, Relay } from '@gantry/events';
import type { ObjectStore } from '@gantry/object-store';
import type { RunEngine } from '@gantry/run-engine';
import type { SecretStore, Vault } from '@gantry/vault';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { PrismaClient } from './generated/prisma/client';
import type { Mailer } from './mail/mailer';

/** What handlers and background work of workers and their runs share. */
export interface Deps {
  prisma: PrismaClient;
  pool: Pool;
  bus: Bus;
  relay: Relay;
  engine: RunEngine;
  objects: ObjectStore;
  vault: Vault;
  secrets: SecretStore;
  /** Webhook secrets and review links are checked with it. */
  hasher: TokenHasher;
  mailer: Mailer;
  /** Public addresses of the worker surface and the dashboard, without a slash at the end. */
  baseUrl: string;
  dashboardUrl: string;
  now: () => Date;
  log: Logger;
}
