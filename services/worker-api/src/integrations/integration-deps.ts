import type { Vault } from '@gantry/vault';
import type { PrismaClient } from '../generated/prisma/client';
import type { OauthApps } from './oauth-apps';

export interface IntegrationDeps {
  prisma: PrismaClient;
  vault: Vault;
  /** OAuth clients that the operator has. */
  oauthApps: OauthApps;
  /** Private networks that URLs of users may lead to: see packages/safe-fetch. */
  outboundAllow: string[];
  /** Public address of the dashboard, without a slash at the end. */
  dashboardUrl: string;
}
