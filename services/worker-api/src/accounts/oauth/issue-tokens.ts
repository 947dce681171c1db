/**
 * The token endpoint: a code, or a refresh token, for an access token and another refresh token.
 *
 * A code and a refresh token are good once. The row is locked while it is looked at, so of two requests with the same
 * one the second is a replay; that ends the grant, because one of the two was sent by another party (RFC 9700, 2.1.1
 * and 4.14).
 */
import { createHash } from 'node:crypto';
import { createOpaqueToken, isSameSecret, type OpaquePrefix, parseOpaqueToken } from '@gantry/auth';
import { AppError } from '@gantry/errors';
import { type Restriction, restriction } from '@gantry/events';
import type { Actor } from '@gantry/http';
import type { SurfaceSchemas } from '@gantry/openapi';
import { type Sql, transaction } from '@gantry/postgres';
import type { AccountDeps } from '../account-deps';
import { toScope } from '../grants/grant';
import {
  insertTokens,
  lockAuthorizationCode,
  lockToken,
  markCredentialUsed,
  type PresentedCode,
  type PresentedToken,
} from '../grants/grant-repository';
import { isMcpResource, SCOPES } from '../grants/oauth-metadata';
import { revokeGrant } from './end-grant';

const ACCESS_TOKEN_TTL_SECONDS = 3_600;
/** A client that is not used for so long asks again. */
const REFRESH_TOKEN_TTL_SECONDS = 60 * 86_400;
const CODE_VERIFIER_PATTERN = /^[A-Za-z0-9._~-]{43,128}$/;

type TokenIssuingDeps = Pick<AccountDeps, 'pool' | 'hasher' | 'baseUrl' | 'now' | 'identities'>;

type TokenRequest = Omit<SurfaceSchemas<'worker'>['TokenRequest'], 'grant_type'>;

type IssuedTokens = SurfaceSchemas<'worker'>['TokenAnswer'];

/** A replay is committed and told afterwards. */
type ExchangeOutcome = { issued: IssuedTokens } | { replayed: string; grantId: string };

/** @throws AppError 400 `invalid_request`, `invalid_grant` or `invalid_target` */
export async function exchangeAuthorizationCode(
  deps: TokenIssuingDeps,
  request: TokenRequest,
  actor: Actor,
): Promise<IssuedTokens> {
  const { code, redirect_uri, code_verifier } = request;
  if (!code || !redirect_uri || !code_verifier) {
    throw createTokenError('invalid_request', 'code, redirect_uri and code_verifier are required');
  }
  requireMcpResource(deps, request);
  const hashes = computeTokenHashes(deps, code, 'oac_');
  return runTokenExchange(deps, async (tx) => {
    const row = await lockAuthorizationCode(tx, hashes);
    if (!row || row.is_over || row.client_id !== request.client_id) throw createInvalidGrantError('code');
    if (row.used_at) return revokeReplayedGrant(tx, row, actor, 'code');
    if (row.redirect_uri !== redirect_uri)
      throw createTokenError('invalid_grant', 'redirect_uri: does not match the authorization request');
    if (!matchesChallenge(code_verifier, row))
      throw createTokenError('invalid_grant', 'code_verifier: does not match the code_challenge');
    await markCredentialUsed(tx, 'oauth_codes', hashes);
    return { issued: await insertIssuedTokens(deps, tx, row) };
  });
}

/** @throws AppError 400 `invalid_request`, `invalid_grant`, `invalid_scope` or `invalid_target` */
export async function exchangeRefreshToken(
  deps: TokenIssuingDeps,
  request: TokenRequest,
  actor: Actor,
): Promise<IssuedTokens> {
  if (!request.refresh_token) throw createTokenError('invalid_request', 'refresh_token: is required');
  requireMcpResource(deps, request);
  const hashes = computeTokenHashes(deps, request.refresh_token, 'ort_');
  return runTokenExchange(deps, async (tx) => {
    const row = await lockToken(tx, hashes);
    if (row?.kind !== 'refresh' || row.is_over || row.client_id !== request.client_id)
      throw createInvalidGrantError('refresh token');
    if (row.used_at) return revokeReplayedGrant(tx, row, actor, 'refresh token');
    requireGrantedScope(row, request.scope);
    await markCredentialUsed(tx, 'oauth_tokens', hashes);
    return { issued: await insertIssuedTokens(deps, tx, row) };
  });
}

async function runTokenExchange(
  { pool, identities }: TokenIssuingDeps,
  exchange: (tx: Sql) => Promise<ExchangeOutcome>,
): Promise<IssuedTokens> {
  const outcome = await transaction(pool, exchange);
  if ('issued' in outcome) return outcome.issued;
  // At once here; the announcement does it in the other processes.
  identities.evictToken(outcome.grantId);
  throw createTokenError(
    'invalid_grant',
    `the ${outcome.replayed} has already been used; the access granted by the user has been revoked`,
  );
}

async function revokeReplayedGrant(
  tx: Sql,
  { grant_id }: PresentedCode | PresentedToken,
  actor: Actor,
  credentialName: string,
) {
  await revokeGrant(tx, { id: grant_id, userId: null }, 'reuse', { ...actor, tokenId: grant_id });
  return { replayed: credentialName, grantId: grant_id };
}

async function insertIssuedTokens(
  { hasher, now }: TokenIssuingDeps,
  tx: Sql,
  { grant_id, grant_expires_at: end, restriction: rules }: PresentedCode | PresentedToken,
): Promise<IssuedTokens> {
  const [access, refresh] = [createOpaqueToken('oat_'), createOpaqueToken('ort_')];
  const at = now().getTime();
  const computeExpiry = (seconds: number) => new Date(Math.min(at + seconds * 1_000, end.getTime()));
  const accessEnd = computeExpiry(ACCESS_TOKEN_TTL_SECONDS);
  await insertTokens(tx, grant_id, {
    access: { hash: hasher.hash(access).hash, expiresAt: accessEnd },
    refresh: { hash: hasher.hash(refresh).hash, expiresAt: computeExpiry(REFRESH_TOKEN_TTL_SECONDS) },
  });
  return {
    access_token: access,
    token_type: 'Bearer',
    expires_in: Math.max(1, Math.floor((accessEnd.getTime() - at) / 1_000)),
    refresh_token: refresh,
    scope: toScope(parseRules(rules)),
  };
}

const parseRules = (rules: unknown): Restriction => restriction.parse(rules);

/** S256 of RFC 7636. */
function matchesChallenge(verifier: string, { code_challenge }: PresentedCode): boolean {
  if (!CODE_VERIFIER_PATTERN.test(verifier)) return false;
  return isSameSecret(createHash('sha256').update(verifier).digest('base64url'), code_challenge);
}

function requireGrantedScope({ restriction: rules }: PresentedToken, scope = ''): void {
  const isReadonly = parseRules(rules).readonly;
  const requestedScopes = scope.split(' ').filter((one) => one !== '');
  const isUngrantedScope = (one: string) =>
    !SCOPES.some((knownScope) => knownScope === one) || (isReadonly && one === 'mcp');
  if (requestedScopes.some(isUngrantedScope))
    throw createTokenError('invalid_scope', 'scope: exceeds the granted scope');
}

function requireMcpResource({ baseUrl }: TokenIssuingDeps, { resource }: TokenRequest): void {
  if (resource === undefined || isMcpResource(baseUrl, resource)) return;
  throw createTokenError('invalid_target', `resource: tokens are issued only for ${baseUrl}/mcp`);
}

/** @throws AppError 400 for what cannot be one */
export function computeTokenHashes(
  { hasher }: Pick<TokenIssuingDeps, 'hasher'>,
  text: string,
  prefix: OpaquePrefix,
): Buffer[] {
  if (parseOpaqueToken(text)?.prefix !== prefix)
    throw createInvalidGrantError(prefix === 'oac_' ? 'code' : 'refresh token');
  return hasher.candidates(text);
}

const createInvalidGrantError = (credential: string) =>
  createTokenError('invalid_grant', `the ${credential} is unknown or expired, or belongs to another client`);

const createTokenError = (code: string, detail: string): AppError => new AppError('invalid', code, detail);
