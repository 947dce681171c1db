/** Everything of the service that speaks HTTP, put together. Nothing here listens, connects or reads the environment. */
import {
  cacheIdentities,
  createAuthenticator,
  createExternalJwtVerifier,
  createJwtVerifier,
  createTokenHasher,
  type ExternalIssuer,
  type IdentityCache,
  identifyBy,
  type LastUse,
} from '@gantry/auth';
import { createSurface, type Health, type RateLimits } from '@gantry/http';
import { createVault, type KeyRing, type Vault } from '@gantry/vault';
import type { Express } from 'express';
import type { Logger } from 'pino';
import { auditOperations } from './audit/audit-routes';
import { createAccessTokens } from './auth/access-token';
import { authOperations } from './auth/auth-routes';
import { passwordOperations } from './auth/password-routes';
import { createSessions } from './auth/session';
import { createSessionCookie } from './auth/session-cookie';
import { sessionOperations } from './auth/session-routes';
import { canonicalPath } from './canonical-path';
import type { Database } from './database';
import { deviceOperations } from './devices/device-routes';
import { createForget } from './forget';
import { createIntrospection, type Introspect } from './identity/introspection';
import { invitationOperations } from './invitations/invitation-routes';
import type { Mailer } from './mail/mailer';
import { memberOperations } from './members/member-routes';
import type { OidcSettings } from './oidc/identity-provider';
import { oidcOperations } from './oidc/oidc-routes';
import { OPENAPI_FILE } from './openapi-file';
import { createSigningKeys, type SigningKeys } from './signing-keys/signing-keys';
import { systemOperations } from './system/system-routes';
import { tokenOperations } from './tokens/token-routes';
import { workspaceOperations } from './workspaces/workspace-routes';

export interface AppOptions {
  database: Database;
  health: Health;
  tokenUse: LastUse;
  /** Called after a commit that wrote to the outbox. */
  announce: () => void;
  encryptionKeys: KeyRing;
  tokenPeppers: KeyRing;
  setupToken: string | undefined;
  baseUrl: string;
  dashboardUrl: string;
  skillsUrl: string;
  jwtIssuer: string;
  jwtAudience: string;
  externalIssuer: ExternalIssuer | undefined;
  oidc: OidcSettings | undefined;
  mailer: Mailer;
  log: Logger;
  rateLimits?: RateLimits;
  validateResponses?: boolean;
}

export interface WorkerApp {
  app: Express;
  introspect: Introspect;
  identities: IdentityCache;
  signingKeys: SigningKeys;
  vault: Vault;
}

export function createApp(options: AppOptions): WorkerApp {
  const { database, log, baseUrl, dashboardUrl, skillsUrl, jwtIssuer: issuer, jwtAudience: audience } = options;
  const { oidc, mailer } = options;
  const { pool, prisma } = database;
  const publicUrls: [string, ...string[]] = [baseUrl, dashboardUrl, skillsUrl];
  const hasher = createTokenHasher(options.tokenPeppers);
  const vault = createVault({ keys: options.encryptionKeys, pool });
  const signingKeys = createSigningKeys({ pool, vault });
  const introspect = createIntrospection({ pool, hasher, tokenUse: options.tokenUse });
  const verifyJwt = createJwtVerifier({ findKey: signingKeys.find, issuer, audience });
  const verifyExternalJwt = options.externalIssuer && createExternalJwtVerifier(options.externalIssuer);
  const identities = cacheIdentities(
    identifyBy({ verifyJwt, introspect, ...(verifyExternalJwt && { verifyExternalJwt }) }),
  );
  const forget = createForget(identities, options.announce);
  const sessions = createSessions({ pool, hasher, revoked: forget.token });
  const issueAccessToken = createAccessTokens({ signingKeys, issuer, audience });
  const sessionCookie = createSessionCookie({ issueAccessToken, publicUrls });
  const sendsEmail = mailer.isConfigured;
  const app = createSurface({
    openapiFile: OPENAPI_FILE,
    canonicalPath,
    operations: {
      ...options.health.operations,
      ...systemOperations({ prisma, baseUrl, dashboardUrl, skillsUrl, oidcName: oidc?.name, sendsEmail }),
      ...authOperations({ prisma, sessions, sessionCookie, signingKeys, setupToken: options.setupToken }),
      ...passwordOperations({ prisma, hasher, mailer, dashboardUrl, sessions, sessionCookie, forget, log }),
      ...sessionOperations({ prisma, sessions, sessionCookie, forget }),
      ...oidcOperations({ prisma, sessions, sessionCookie, forget, oidc, publicUrls, dashboardUrl, log }),
      ...deviceOperations({ prisma, hasher, dashboardUrl }),
      ...tokenOperations({ prisma, hasher, revoked: forget.token }),
      ...workspaceOperations({ prisma, forget }),
      ...memberOperations({ prisma, hasher, mailer, dashboardUrl, forget }),
      ...invitationOperations({ prisma, hasher, mailer, dashboardUrl, sessions, sessionCookie, forget }),
      ...auditOperations({ pool }),
    },
    authenticate: createAuthenticator({ identify: identities.identify, publicUrls }),
    errorShape: 'detail',
    pool,
    log,
    corsOrigins: [dashboardUrl, skillsUrl].map((url) => new URL(url).origin),
    ...(options.rateLimits && { rateLimits: options.rateLimits }),
    validateResponses: options.validateResponses ?? false,
  });
  return { app, introspect, identities, signingKeys, vault };
}
