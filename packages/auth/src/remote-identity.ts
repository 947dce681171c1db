/** Identity resolution in every service but worker-api: JWTs are verified locally, worker-api resolves the rest. */

import { unavailable } from '@gantry/errors';
import {
  type Bus,
  type Identity,
  INTROSPECT_SUBJECT,
  type IntrospectRequest,
  introspectReply,
  RESTRICTION_RULES,
  request,
} from '@gantry/events';
import type { Logger } from 'pino';
import { subscribeEvictions } from './evict-on-events';
import { createExternalJwtVerifier, type ExternalIssuer, type VerifyExternalJwt } from './external-jwt';
import { createIdentityCache, type Identify } from './identity-cache';
import { createRemoteKeyFinder } from './jwks';
import { createJwtVerifier, type VerifyJwt } from './jwt';
import { type OpaquePrefix, parseOpaqueToken } from './opaque-token';

const TIMEOUT_MS = 1_500;

export type Introspect = (lookup: IntrospectRequest) => Promise<Identity | null>;

/** Tokens issued by the service itself: resolves them, asking worker-api about their user. */
export interface LocalTokens {
  prefix: OpaquePrefix;
  identify: (token: string, introspect: Introspect) => Promise<Identity | null>;
}

export interface RemoteIdentifyOptions {
  bus: Bus;
  jwksUrl: string;
  issuer: string;
  audience: string;
  /** An identity provider whose JWTs are accepted in addition to worker-api's. */
  externalIssuer?: ExternalIssuer | undefined;
  ownTokens?: LocalTokens;
  log: Logger;
}

/** `identify` throws a 503 AppError if worker-api cannot be reached and nothing fresh is cached. */
export function createRemoteIdentityResolver(options: RemoteIdentifyOptions) {
  const { bus, jwksUrl, issuer, audience, externalIssuer, ownTokens, log } = options;
  const verifyJwt = createJwtVerifier({ findKey: createRemoteKeyFinder({ url: jwksUrl }), issuer, audience });
  const throwUnavailable = (cause: unknown): never => {
    throw unavailable('the credential check', cause);
  };
  const introspect: Introspect = (lookup) =>
    request(bus, INTROSPECT_SUBJECT, lookup, introspectReply, TIMEOUT_MS, 'worker-api').then(
      ({ identity }) => identity,
      throwUnavailable,
    );
  const verifyExternalJwt = externalIssuer && createExternalJwtVerifier(externalIssuer);
  const identifyAccount = createIdentityResolver({
    verifyJwt: (jwt) => verifyJwt(jwt).catch(throwUnavailable),
    ...(verifyExternalJwt && { verifyExternalJwt: (jwt) => verifyExternalJwt(jwt).catch(throwUnavailable) }),
    introspect,
  });
  const cache = createIdentityCache((credential) =>
    ownTokens && credential.kind === 'token' && parseOpaqueToken(credential.secret)?.prefix === ownTokens.prefix
      ? ownTokens.identify(credential.secret, introspect)
      : identifyAccount(credential),
  );
  const eviction = subscribeEvictions(cache, { bus, log });
  return {
    identify: cache.identify,
    /** Takes effect here at once; an auth.token.revoked event does it in the other replicas. */
    evictToken: cache.evictToken,
    stop: eviction.stop,
  };
}

/** Converts a credential into the lookup that worker-api answers. */
export function createIdentityResolver(options: {
  verifyJwt: VerifyJwt;
  verifyExternalJwt?: VerifyExternalJwt;
  introspect: Introspect;
}): Identify {
  const { verifyJwt, verifyExternalJwt, introspect } = options;
  return async (credential) => {
    if (credential.kind === 'token')
      return introspect({ kind: 'token', token: credential.secret, enforces: [...RESTRICTION_RULES] });
    if (credential.kind === 'session') return introspect({ kind: 'session', cookie: credential.secret });
    const claims = await verifyJwt(credential.secret);
    if (claims) {
      const { userId, sessionId, expiresAt } = claims;
      const user = await introspect({
        kind: 'user',
        userId,
        ...(sessionId && { sessionId, enforces: [...RESTRICTION_RULES] }),
      });
      return user && { ...user, expiresAt };
    }
    const external = await verifyExternalJwt?.(credential.secret);
    if (!external) return null;
    const { issuer, subject, email, expiresAt } = external;
    const user = await introspect({ kind: 'external', issuer, subject, email });
    return user && { ...user, expiresAt };
  };
}
