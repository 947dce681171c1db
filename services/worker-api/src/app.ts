/** Everything of the service that speaks HTTP, put together. Nothing here listens, connects or reads the environment. */
import {
  cacheIdentities,
  createAuthenticator,
  createJwtVerifier,
  createTokenHasher,
  type IdentityCache,
  identifyBy,
} from '@gantry/auth';
import { createSurface, type Health, type RateLimits } from '@gantry/http';
import { createVault, type KeyRing, type Vault } from '@gantry/vault';
import type { Express } from 'express';
import type { Logger } from 'pino';
import { createAccessTokens } from './auth/access-token';
import { authOperations } from './auth/auth-routes';
import { createSessions } from './auth/session';
import { canonicalPath } from './canonical-path';
import type { Database } from './database';
import { createIntrospection, type Introspect } from './identity/introspection';
import type { TokenUse } from './identity/token-use';
import { notBuiltYet } from './not-built-yet';
import { OPENAPI_FILE } from './openapi-file';
import { createSigningKeys, type SigningKeys } from './signing-keys/signing-keys';
import { systemOperations } from './system/system-routes';
import { tokenOperations } from './tokens/token-routes';
import { workspaceOperations } from './workspaces/workspace-routes';

export interface AppOptions {
  database: Database;
  health: Health;
  tokenUse: TokenUse;
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
  const { pool, prisma } = database;
  const publicUrls: [string, ...string[]] = [baseUrl, dashboardUrl, skillsUrl];
  const hasher = createTokenHasher(options.tokenPeppers);
  const vault = createVault({ keys: options.encryptionKeys, pool });
  const signingKeys = createSigningKeys({ pool, vault });
  const introspect = createIntrospection({ pool, hasher, tokenUse: options.tokenUse });
  const verifyJwt = createJwtVerifier({ findKey: signingKeys.find, issuer, audience });
  const identities = cacheIdentities(identifyBy({ verifyJwt, introspect }));
  /** After a commit that ended a token or a session: it is forgotten here at once, and everywhere else by its event. */
  const revoked = (id: string) => {
    identities.evictToken(id);
    options.announce();
  };
  const app = createSurface({
    openapiFile: OPENAPI_FILE,
    canonicalPath,
    operations: {
      ...options.health.operations,
      ...systemOperations({ prisma, baseUrl, dashboardUrl, skillsUrl }),
      ...authOperations({
        prisma,
        sessions: createSessions({ pool, hasher, revoked }),
        signingKeys,
        issueAccessToken: createAccessTokens({ signingKeys, issuer, audience }),
        setupToken: options.setupToken,
        publicUrls,
      }),
      ...tokenOperations({ prisma, hasher, revoked }),
      ...workspaceOperations({ prisma }),
      ...notBuiltYet(),
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
