import type { IdentityCache, Introspect, TokenHasher } from '@gantry/auth';
import type { WorkspaceClosures } from '@gantry/events';
import type { ObjectStore } from '@gantry/object-store';
import type { RetentionBounds } from '@gantry/run-engine';
import type { Vault } from '@gantry/vault';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { PrismaClient } from '../generated/prisma/client';
import type { Mailer } from '../mail/mailer';
import type { Sessions } from './auth/session';
import type { SessionCookie } from './auth/session-cookie';
import type { OidcSettings } from './oidc/identity-provider';
import type { SigningKeys } from './signing-keys/signing-keys';

export interface AccountDeps {
  prisma: PrismaClient;
  pool: Pool;
  closures: WorkspaceClosures;
  objects: ObjectStore;
  vault: Vault;
  hasher: TokenHasher;
  mailer: Mailer;
  retention: RetentionBounds;
  /** Private networks that URLs of OAuth clients may lead to: see packages/safe-fetch. */
  outboundAllow: string[];
  sessions: Sessions;
  sessionCookie: SessionCookie;
  identities: IdentityCache;
  introspect: Introspect;
  signingKeys: SigningKeys;
  /** Undefined: set-up is disabled. */
  setupToken: string | undefined;
  /** Undefined: no sign-in with an identity provider. */
  oidc: OidcSettings | undefined;
  /** Public addresses of the worker surface and the dashboard, without a slash at the end. */
  baseUrl: string;
  dashboardUrl: string;
  publicUrls: [string, ...string[]];
  now: () => Date;
  log: Logger;
}
