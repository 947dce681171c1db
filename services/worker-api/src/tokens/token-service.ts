import { newOpaqueToken, shownPrefix, type TokenHasher } from '@gantry/auth';
import { enqueue, newId, type Role, tokenRevoked } from '@gantry/events';
import { AppError, conflict, invalid, notFound, type Principal, roleAtLeast } from '@gantry/http';
import type { Actor } from '../audit/actor';
import { recordChange } from '../audit/audit-entry';
import { type Db, executeIn } from '../database';
import type { PrismaClient, Token } from '../generated/prisma/client';
import { type TokenLimits, tooHigh, withinMaker } from './token';
import { countTokens, findTokenById, insertToken, markRevoked, type TokenOwner } from './token-repository';

export interface TokenInput {
  name: string;
  expires_at?: string | null;
  role?: Role;
}

export interface TokenDeps {
  prisma: PrismaClient;
  hasher: TokenHasher;
}

const PER_OWNER_MAX = 200;

/** The user whose personal tokens the caller may manage. @throws AppError 403 for a workspace token */
export function userOf(caller: Principal): { userId: string } {
  if (caller.userId) return { userId: caller.userId };
  throw new AppError('forbidden', 'needs_user', 'a workspace token has no personal tokens; sign in as a person');
}

export async function createPersonalToken(deps: TokenDeps, caller: Principal, actor: Actor, input: TokenInput) {
  const owner = userOf(caller);
  const limits = await limitsFor(deps.prisma, caller, input);
  return createToken(deps, 'svc_', owner, caller, actor, { ...limits, name: input.name });
}

export async function createWorkspaceToken(deps: TokenDeps, caller: Principal, actor: Actor, input: TokenInput) {
  const limits = await limitsFor(deps.prisma, caller, { role: 'admin', ...input });
  return createToken(deps, 'wst_', { workspaceId: caller.workspaceId }, caller, actor, { ...limits, name: input.name });
}

/** Row and announcement commit together. @throws AppError 404, also for a token of somebody else */
export async function revokeToken(
  prisma: PrismaClient,
  owner: TokenOwner,
  tokenId: string,
  workspaceId: string,
  actor: Actor,
): Promise<void> {
  await prisma.$transaction(async (tx) => {
    if (!(await markRevoked(tx, owner, tokenId))) throw notFound('token', tokenId);
    await enqueue(executeIn(tx), tokenRevoked, workspaceId, { tokenId });
    await recordChange(executeIn(tx), actor, {
      workspaceId,
      action: 'token.revoked',
      resource: { type: 'token', id: tokenId },
    });
  });
}

async function limitsFor(db: Db, caller: Principal, { role, expires_at }: TokenInput): Promise<TokenLimits> {
  if (role && !roleAtLeast(caller.role, role)) throw tooHigh(caller.role);
  const expiresAt = expires_at ? new Date(expires_at) : null;
  if (expiresAt && !(expiresAt.getTime() > Date.now())) {
    throw invalid([{ path: 'expires_at', message: 'must be in the future' }]);
  }
  return withinMaker({ role: role ?? null, expiresAt }, await makerLimits(db, caller));
}

/** People are limited by their membership alone, which is asked about at every request. */
async function makerLimits(db: Db, { kind, tokenId }: Principal): Promise<TokenLimits> {
  if (tokenId === null || (kind !== 'personal_token' && kind !== 'workspace_token'))
    return { role: null, expiresAt: null };
  const maker = await findTokenById(db, tokenId);
  if (!maker || maker.revokedAt) throw new AppError('unauthorized', 'bad_credential', 'the token was revoked');
  return { role: maker.role, expiresAt: maker.expiresAt };
}

async function createToken(
  { prisma, hasher }: TokenDeps,
  prefix: 'svc_' | 'wst_',
  owner: TokenOwner,
  caller: Principal,
  actor: Actor,
  { name, role, expiresAt }: TokenLimits & { name: string },
): Promise<{ created: Token; token: string }> {
  return prisma.$transaction(async (tx) => {
    const made = await insertNewToken(tx, hasher, prefix, owner, {
      name,
      role,
      expiresAt,
      defaultWorkspaceId: prefix === 'svc_' ? caller.workspaceId : null,
      createdBy: caller.userId ?? caller.tokenId ?? 'unknown',
    });
    const { id, prefix: shown } = made.created;
    await recordChange(executeIn(tx), actor, {
      workspaceId: caller.workspaceId,
      action: 'token.created',
      resource: { type: 'token', id },
      details: { name: made.created.name, prefix: shown, role, kind: prefix === 'svc_' ? 'personal' : 'workspace' },
    });
    return made;
  });
}

/** A token with its user's own rights, acting in that workspace by default. */
export function insertPersonalToken(tx: Db, hasher: TokenHasher, userId: string, workspaceId: string, name: string) {
  const unlimited = { role: null, expiresAt: null, defaultWorkspaceId: workspaceId, createdBy: userId };
  return insertNewToken(tx, hasher, 'svc_', { userId }, { name, ...unlimited });
}

/** @throws AppError 409 for too many */
async function insertNewToken(
  tx: Db,
  hasher: TokenHasher,
  prefix: 'svc_' | 'wst_',
  owner: TokenOwner,
  { name, ...columns }: TokenLimits & { name: string; defaultWorkspaceId: string | null; createdBy: string },
): Promise<{ created: Token; token: string }> {
  if ((await countTokens(tx, owner)) >= PER_OWNER_MAX) {
    throw conflict('too_many_tokens', `there are ${PER_OWNER_MAX} tokens already; revoke some first`);
  }
  const token = newOpaqueToken(prefix);
  const { hash, pepperVersion } = hasher.hash(token);
  const id = newId('tok_');
  const shown = shownPrefix(token);
  const created = await insertToken(tx, owner, {
    id,
    name: name.trim(),
    prefix: shown,
    hash,
    pepperVersion,
    ...columns,
  });
  return { created, token };
}
