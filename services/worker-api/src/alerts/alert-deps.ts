import type { TokenHasher } from '@gantry/auth';
import type { Vault } from '@gantry/vault';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { PrismaClient } from '../generated/prisma/client';
import type { Mailer } from '../mail/mailer';
import type { DeliveryLoop } from './delivery';

export interface AlertDeps {
  prisma: PrismaClient;
  pool: Pool;
  vault: Vault;
  /** Creates the review links of approvals. */
  hasher: TokenHasher;
  mailer: Mailer;
  /** Sends alerts. */
  deliveryLoop: DeliveryLoop;
  /** Private networks that webhooks may go to: see packages/safe-fetch. */
  outboundAllow: string[];
  /** Public address of the dashboard, without a slash at the end. */
  dashboardUrl: string;
  now: () => Date;
  log: Logger;
}
