/**
 * The token endpoint: a code, or a refresh token, for an access token and another refresh token.
 *
 * A code and a refresh token are good once. The row is locked while it is looked at, so of two requests with the same
 * one the second is a replay; that ends the grant, because one of the two was sent by another party (RFC 9700, 2.1.1
 * and 4.14).
 */
import { createHash } from 'node:crypto';
import {
  createOpaqueToken,
  type IdentityCache,
  isSameSecret,
  type OpaquePrefix,
  parseOpaqueToken,
  type TokenHasher,
} from '@gantry/auth';
import { type Restriction, restriction } from '@gantry/events';
import { type Actor, AppError } from '@gantry/http';
import { type Sql, transaction } from '@gantry/postgres';
import type { Pool } from 'pg';
import { toScope } from '../grants/grant';
import {
  insertTokens,
  lockCode,
  lockToken,
  markUsed,
  type PresentedCode,
  type PresentedToken,
} from '../grants/grant-repository';
import { isOurResource, SCOPES, type Scope } from '../grants/oauth-addresses';
import { endGrant } from './end-grant';

const ACCESS_SECONDS = 3_600;
/** A client that is not used for so long asks again. */
const REFRESH_SECONDS = 60 * 86_400;
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

export interface IssuingDeps {
  pool: Pool;
  hasher: TokenHasher;
  baseUrl: string;
  now: () => Date;
  identities: Pick<IdentityCache, 'evictToken'>;
}

export interface TokenRequest {
  client_id: string;
  code?: string;
  redirect_uri?: string;
  code_verifier?: string;
  refresh_token?: string;
  resource?: string;
  scope?: string;
}

export interface Issued {
  access_token: string;
  token_type: 'Bearer';
  /** Seconds. */
  expires_in: number;
  refresh_token: string;
  scope: Scope;
}

/** A replay is committed and told afterwards. */
type Outcome = { issued: Issued } | { replayed: string; grantId: string };

/** @throws AppError 400 `invalid_request`, `invalid_grant` or `invalid_target` */
export async function issueForCode(deps: IssuingDeps, asked: TokenRequest, actor: Actor): Promise<Issued> {
  const { code, redirect_uri, code_verifier } = asked;
  if (!code || !redirect_uri || !code_verifier) {
    throw grantError('invalid_request', 'code, redirect_uri and code_verifier: are required');
  }
  requireOurResource(deps, asked);
  const hashes = computeHashes(deps, code, 'oac_');
  return settle(deps, async (tx) => {
    const row = await lockCode(tx, hashes);
    if (!row || row.is_over || row.client_id !== asked.client_id) throw notGood('code');
    if (row.used_at) return replay(tx, row, actor, 'code');
    if (row.redirect_uri !== redirect_uri)
      throw grantError('invalid_grant', 'redirect_uri: is not the one of the request');
    if (!proves(code_verifier, row))
      throw grantError('invalid_grant', 'code_verifier: does not fit the code_challenge');
    await markUsed(tx, 'oauth_codes', hashes);
    return { issued: await issue(deps, tx, row) };
  });
}

/** @throws AppError 400 `invalid_request`, `invalid_grant`, `invalid_scope` or `invalid_target` */
export async function issueForRefreshToken(deps: IssuingDeps, asked: TokenRequest, actor: Actor): Promise<Issued> {
  if (!asked.refresh_token) throw grantError('invalid_request', 'refresh_token: is required');
  requireOurResource(deps, asked);
  const hashes = computeHashes(deps, asked.refresh_token, 'ort_');
  return settle(deps, async (tx) => {
    const row = await lockToken(tx, hashes);
    if (row?.kind !== 'refresh' || row.is_over || row.client_id !== asked.client_id) throw notGood('refresh token');
    if (row.used_at) return replay(tx, row, actor, 'refresh token');
    requireGranted(row, asked.scope);
    await markUsed(tx, 'oauth_tokens', hashes);
    return { issued: await issue(deps, tx, row) };
  });
}

async function settle({ pool, identities }: IssuingDeps, work: (tx: Sql) => Promise<Outcome>): Promise<Issued> {
  const outcome = await transaction(pool, work);
  if ('issued' in outcome) return outcome.issued;
  // At once here; the announcement does it in the other processes.
  identities.evictToken(outcome.grantId);
  throw grantError('invalid_grant', `the ${outcome.replayed} was used already; what the person allowed has ended`);
}

async function replay(tx: Sql, { grant_id }: PresentedCode | PresentedToken, actor: Actor, what: string) {
  await endGrant(tx, { id: grant_id, userId: null }, 'reuse', { ...actor, tokenId: grant_id });
  return { replayed: what, grantId: grant_id };
}

async function issue(
  { hasher, now }: IssuingDeps,
  tx: Sql,
  { grant_id, grant_expires_at: end, restriction: rules }: PresentedCode | PresentedToken,
): Promise<Issued> {
  const [access, refresh] = [createOpaqueToken('oat_'), createOpaqueToken('ort_')];
  const at = now().getTime();
  const computeExpiry = (seconds: number) => new Date(Math.min(at + seconds * 1_000, end.getTime()));
  const accessEnd = computeExpiry(ACCESS_SECONDS);
  await insertTokens(tx, grant_id, {
    access: { hash: hasher.hash(access).hash, expiresAt: accessEnd },
    refresh: { hash: hasher.hash(refresh).hash, expiresAt: computeExpiry(REFRESH_SECONDS) },
  });
  return {
    access_token: access,
    token_type: 'Bearer',
    expires_in: Math.max(1, Math.floor((accessEnd.getTime() - at) / 1_000)),
    refresh_token: refresh,
    scope: toScope(readRules(rules)),
  };
}

const readRules = (rules: unknown): Restriction => restriction.parse(rules);

/** S256 of RFC 7636. */
function proves(verifier: string, { code_challenge }: PresentedCode): boolean {
  if (!VERIFIER.test(verifier)) return false;
  return isSameSecret(createHash('sha256').update(verifier).digest('base64url'), code_challenge);
}

function requireGranted({ restriction: rules }: PresentedToken, scope = ''): void {
  const isReadonly = readRules(rules).readonly;
  const asked = scope.split(' ').filter((one) => one !== '');
  const isMore = (one: string) => !SCOPES.some((known) => known === one) || (isReadonly && one === 'mcp');
  if (asked.some(isMore)) throw grantError('invalid_scope', 'scope: asks for more than was granted');
}

function requireOurResource({ baseUrl }: IssuingDeps, { resource }: TokenRequest): void {
  if (resource === undefined || isOurResource(baseUrl, resource)) return;
  throw grantError('invalid_target', `resource: tokens are for ${baseUrl}/mcp alone`);
}

/** @throws AppError 400 for what cannot be one */
export function computeHashes({ hasher }: Pick<IssuingDeps, 'hasher'>, text: string, prefix: OpaquePrefix): Buffer[] {
  if (parseOpaqueToken(text)?.prefix !== prefix) throw notGood(prefix === 'oac_' ? 'code' : 'refresh token');
  return hasher.candidates(text);
}

const notGood = (what: string) => grantError('invalid_grant', `the ${what} is unknown, expired or another client's`);

const grantError = (code: string, detail: string): AppError => new AppError('invalid', code, detail);
