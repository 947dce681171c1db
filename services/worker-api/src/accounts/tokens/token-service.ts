import { createOpaqueToken, getDisplayPrefix, type TokenHasher } from '@gantry/auth';
import { AppError, conflict, forbidden, invalid, notFound } from '@gantry/errors';
import { enqueue, newId, tokenRevoked } from '@gantry/events';
import type { OperationCall, Requester } from '@gantry/http';
import { hasRoleAtLeast, type Principal } from '@gantry/limits';
import { transaction } from '@gantry/postgres';
import { recordChange } from '../../audit/audit-entry';
import type { Db } from '../../database';
import type { PrismaClient, Token } from '../../generated/prisma/client';
import type { AccountDeps } from '../account-deps';
import { createRoleTooHighError, narrowTokenLimits, type TokenLimits } from './token';
import {
  findTokenById,
  insertToken,
  listVisibleWorkerIds,
  lockActiveToken,
  markTokenRevoked,
  type NewToken,
  revokeCreatedTokens,
  type TokenOwner,
} from './token-repository';
import {
  parseRestriction,
  requireInheritedRules,
  restrictionToApi,
  toRestrictedHashInput,
  toRestriction,
} from './token-restriction';

type TokenInput = OperationCall<'worker', 'createPersonalToken'>['body'];

const TOKENS_PER_OWNER_MAX = 200;

/** Returns the user whose personal tokens the caller may manage. @throws AppError 403 for a workspace token */
export function getPersonalTokenOwner(caller: Principal): { userId: string } {
  if (caller.userId) return { userId: caller.userId };
  throw forbidden('needs_user', 'a workspace token cannot have personal tokens; sign in as a user');
}

export async function createPersonalToken(deps: AccountDeps, requester: Requester, input: TokenInput) {
  const owner = getPersonalTokenOwner(requester.caller);
  return createToken(deps, 'svc_', owner, requester, await prepareToken(deps.prisma, requester.caller, input));
}

export async function createWorkspaceToken(deps: AccountDeps, requester: Requester, input: TokenInput) {
  const { workspaceId } = requester.caller;
  const token = await prepareToken(deps.prisma, requester.caller, { role: 'admin', ...input });
  return createToken(deps, 'wst_', { workspaceId }, requester, token);
}

/**
 * Revokes a token; row and announcement commit together. Tokens that it created stay valid unless `withMade`: a program
 * may replace its own token with one that it creates with the old one.
 * @returns the ids of all revoked tokens
 * @throws AppError 404, also for another user's token
 */
export async function revokeToken(
  prisma: PrismaClient,
  owner: TokenOwner,
  token: { id: string; withMade: boolean },
  { caller: { workspaceId }, actor }: Requester,
): Promise<string[]> {
  return transaction(prisma, async (tx) => {
    const revoked = await markTokenRevoked(tx, owner, token.id);
    if (!revoked) throw notFound('token', token.id);
    const revokedTokens = token.withMade ? await revokeCreatedTokens(tx, token.id) : [];
    for (const { id, name, workspace_id } of [{ id: token.id, workspace_id: null, ...revoked }, ...revokedTokens]) {
      await enqueue(tx, tokenRevoked, workspace_id ?? workspaceId, { tokenId: id });
      const details = { name, ...(id !== token.id && { revoked_with: token.id }) };
      await recordChange(tx, actor, 'token.revoked', { workspaceId: workspace_id ?? workspaceId, id }, details);
    }
    return [token.id, ...revokedTokens.map(({ id }) => id)];
  });
}

interface PreparedToken extends TokenLimits {
  id: string;
  name: string;
}

async function prepareToken(db: Db, caller: Principal, input: TokenInput): Promise<PreparedToken> {
  const { name, role, restrict } = input;
  if (role && !hasRoleAtLeast(caller.role, role)) throw createRoleTooHighError(caller.role);
  const id = newId('tok_');
  const maker = await loadCreatorLimits(db, caller);
  requireInheritedRules(restrict, maker.restriction);
  const requestedLimits = {
    role: role ?? null,
    expiresAt: computeExpiry(input),
    restriction: toRestriction(restrict, id),
  };
  const limits = narrowTokenLimits(requestedLimits, maker);
  await requireVisibleWorkers(db, caller, restrict?.workers ?? []);
  return { id, name, ...limits };
}

/**
 * Does not check automations, which another service owns.
 * @throws AppError 400 with the paths of workers that are invisible to the caller or do not exist
 */
async function requireVisibleWorkers(db: Db, caller: Principal, workerIds: string[]): Promise<void> {
  if (workerIds.length === 0) return;
  const seen = new Set(await listVisibleWorkerIds(db, caller, workerIds));
  const problems = workerIds.flatMap((id, index) =>
    seen.has(id) ? [] : [{ path: `restrict.workers.${index}`, message: 'there is no such worker' }],
  );
  if (problems.length > 0) throw invalid(problems);
}

/** Returns the earlier time where both fields have one. @throws AppError 400 */
function computeExpiry({ expires_at, restrict }: TokenInput): Date | null {
  const ends = Object.entries({ expires_at, 'restrict.expires_at': restrict?.expires_at }).flatMap(
    ([path, timestamp]) => {
      if (!timestamp) return [];
      const at = new Date(timestamp);
      if (!(at.getTime() > Date.now())) throw invalid([{ path, message: 'must be in the future' }]);
      return [at];
    },
  );
  return ends.sort((one, other) => one.getTime() - other.getTime())[0] ?? null;
}

/** Returns the id of the calling token; null if the caller is a person. */
export const findCallingTokenId = ({ kind, tokenId }: Principal): string | null =>
  kind === 'personal_token' || kind === 'workspace_token' ? tokenId : null;

/** Returns no limits for people: only their membership limits them, which is checked at every request. */
async function loadCreatorLimits(db: Db, caller: Principal): Promise<TokenLimits> {
  const tokenId = findCallingTokenId(caller);
  if (tokenId === null) return { role: null, expiresAt: null, restriction: null };
  const maker = await findTokenById(db, tokenId);
  if (!maker) throw createCreatorRevokedError();
  return { role: maker.role, expiresAt: maker.expiresAt, restriction: parseRestriction(maker) };
}

async function createToken(
  { prisma, hasher }: AccountDeps,
  prefix: 'svc_' | 'wst_',
  owner: TokenOwner,
  { caller, actor, markCreated }: Requester,
  { id, name, role, expiresAt, restriction }: PreparedToken,
): Promise<{ created: Token; token: string }> {
  const callingTokenId = findCallingTokenId(caller);
  return transaction(prisma, async (tx) => {
    // A concurrent revocation of the token and everything that it created must not miss the new token.
    if (callingTokenId !== null && !(await lockActiveToken(tx, callingTokenId))) throw createCreatorRevokedError();
    const inserted = await insertTokenWithinLimit(tx, hasher, prefix, owner, {
      id,
      name,
      role,
      expiresAt,
      restriction,
      defaultWorkspaceId: prefix === 'svc_' ? caller.workspaceId : null,
      createdBy: caller.userId ?? caller.tokenId ?? 'unknown',
      createdByTokenId: callingTokenId,
    });
    const { prefix: shown } = inserted.created;
    const kind = prefix === 'svc_' ? 'personal' : 'workspace';
    const restrict = restrictionToApi(restriction);
    const details = { name: inserted.created.name, prefix: shown, role, kind, ...(restrict && { restrict }) };
    await recordChange(tx, actor, 'token.created', { workspaceId: caller.workspaceId, id }, details);
    await markCreated(tx, id);
    return inserted;
  });
}

const createCreatorRevokedError = () => new AppError('unauthorized', 'bad_credential', 'the token was revoked');

/** Inserts a token with all rights of its user, acting in that workspace by default. */
export function insertPersonalToken(tx: Db, hasher: TokenHasher, userId: string, workspaceId: string, name: string) {
  const limits = { id: newId('tok_'), role: null, expiresAt: null, restriction: null };
  const revokedTokens = { defaultWorkspaceId: workspaceId, createdBy: userId, createdByTokenId: null };
  return insertTokenWithinLimit(tx, hasher, 'svc_', { userId }, { name, ...limits, ...revokedTokens });
}

/** @throws AppError 409 for too many */
async function insertTokenWithinLimit(
  tx: Db,
  hasher: TokenHasher,
  prefix: 'svc_' | 'wst_',
  owner: TokenOwner,
  { name, ...columns }: Omit<NewToken, 'prefix' | 'hash' | 'pepperVersion'>,
): Promise<{ created: Token; token: string }> {
  if ((await tx.token.count({ where: { ...owner, revokedAt: null } })) >= TOKENS_PER_OWNER_MAX) {
    throw conflict(
      'too_many_tokens',
      `the limit of ${TOKENS_PER_OWNER_MAX} tokens has been reached; revoke some first`,
    );
  }
  const token = createOpaqueToken(prefix);
  const hashed = hasher.hash(columns.restriction ? toRestrictedHashInput(token) : token);
  const created = await insertToken(tx, owner, {
    ...columns,
    ...hashed,
    name: name.trim(),
    prefix: getDisplayPrefix(token),
  });
  return { created, token };
}
