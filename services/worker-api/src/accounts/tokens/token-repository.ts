import { notFound } from '@gantry/errors';
import { enqueue, type Restriction, tokenRevoked } from '@gantry/events';
import type { Principal } from '@gantry/limits';
import type { Sql } from '@gantry/postgres';
import type { Pool } from 'pg';
import { buildWorkerVisibilityFilter } from '../../access/ownership';
import type { Db } from '../../database';
import type { Token } from '../../generated/prisma/client';
import { deleteUserGrants } from '../grants/grant-repository';
import { hasOwnBudget } from './token-restriction';

/** The owner of tokens: a user (personal tokens) or a workspace. */
export type TokenOwner = { userId: string } | { workspaceId: string };

export type NewToken = Pick<
  Token,
  'id' | 'name' | 'prefix' | 'pepperVersion' | 'role' | 'createdBy' | 'createdByTokenId' | 'expiresAt'
> & {
  hash: Buffer;
  defaultWorkspaceId: string | null;
  restriction: Restriction | null;
};

export interface ListedToken extends Token {
  /** Number of active tokens that it created, directly or through others. */
  madeTokens: number;
  /** The token that created it is revoked, or revoked and deleted. */
  makerRevoked: boolean;
  /** US dollars; null without a budget of its own. */
  spentUsd: number | null;
}

export function insertToken(tx: Db, owner: TokenOwner, { hash, restriction, ...token }: NewToken): Promise<Token> {
  const data = { ...owner, ...token, hash: new Uint8Array(hash), ...(restriction && { restriction }) };
  return tx.token.create({ data });
}

/** Returns those of `ids` that belong to workers visible to the caller in their workspace. */
export async function listVisibleWorkerIds(db: Db, caller: Principal, ids: string[]): Promise<string[]> {
  const { workspaceId } = caller;
  const where = { workspaceId, deletedAt: null, AND: [{ id: { in: ids } }, buildWorkerVisibilityFilter(caller)] };
  return (await db.worker.findMany({ where, select: { id: true } })).map(({ id }) => id);
}

/** Newest first; tokens that were not revoked, including expired ones. */
export async function listTokens(db: Db, owner: TokenOwner): Promise<ListedToken[]> {
  const tokens = await db.token.findMany({
    where: { ...owner, revokedAt: null },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  });
  const ids = tokens.map(({ id }) => id);
  const makerIds = tokens.flatMap(({ createdByTokenId }) => createdByTokenId ?? []);
  const makers = await db.token.findMany({ where: { id: { in: makerIds }, revokedAt: null }, select: { id: true } });
  const activeMakerIds = new Set(makers.map(({ id }) => id));
  const made = await countCreatedTokens(db, ids);
  const spending = await db.tokenSpending.findMany({ where: { tokenId: { in: ids } } });
  const spent = new Map(spending.map(({ tokenId, usd }) => [tokenId, usd]));
  return tokens.map((token) => ({
    ...token,
    madeTokens: made.get(token.id) ?? 0,
    spentUsd: hasOwnBudget(token) ? (spent.get(token.id) ?? 0) : null,
    makerRevoked: token.createdByTokenId !== null && !activeMakerIds.has(token.createdByTokenId),
  }));
}

/**
 * Counts active tokens by the token that created them, directly or through others. UNION rather than UNION ALL
 * guarantees termination for any rows.
 */
async function countCreatedTokens(db: Db, ids: string[]): Promise<Map<string, number>> {
  const rows = await db.$queryRaw<{ root: string; made: number }[]>`
    WITH RECURSIVE made AS (
      SELECT created_by_token_id AS root, id, revoked_at FROM tokens WHERE created_by_token_id = ANY(${ids})
      UNION
      SELECT made.root, t.id, t.revoked_at FROM tokens t JOIN made ON t.created_by_token_id = made.id)
    SELECT root, count(*)::int AS made FROM made WHERE revoked_at IS NULL GROUP BY root`;
  return new Map(rows.map(({ root, made }) => [root, made]));
}

/** Null if the owner has no such token. */
export async function markTokenRevoked(tx: Db, owner: TokenOwner, tokenId: string): Promise<{ name: string } | null> {
  const [revoked] = await tx.token.updateManyAndReturn({
    where: { ...owner, id: tokenId, revokedAt: null },
    data: { revokedAt: new Date() },
    select: { name: true },
  });
  return revoked ?? null;
}

/** False if it was revoked or has expired. Locks the row: a concurrent revocation waits until the transaction ends. */
export async function lockActiveToken(tx: Db, tokenId: string): Promise<boolean> {
  const rows = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM tokens WHERE id = ${tokenId} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
    FOR SHARE`;
  return rows.length > 0;
}

/** Revokes every token created by the token, directly or through others, of either kind. */
export function revokeCreatedTokens(
  tx: Db,
  tokenId: string,
): Promise<{ id: string; name: string; workspace_id: string | null }[]> {
  return tx.$queryRaw`
    WITH RECURSIVE made AS (
      SELECT id FROM tokens WHERE created_by_token_id = ${tokenId}
      UNION
      SELECT t.id FROM tokens t JOIN made ON t.created_by_token_id = made.id)
    UPDATE tokens SET revoked_at = now() WHERE id IN (SELECT id FROM made) AND revoked_at IS NULL
    RETURNING id, name, workspace_id`;
}

/**
 * Revokes every personal token of the user, what they allowed OAuth clients, and the API keys that other services keep
 * for them. Returns the ids of tokens and grants.
 */
export async function revokeUserCredentials(tx: Db, userId: string): Promise<string[]> {
  const now = new Date();
  const revoked = await tx.token.updateManyAndReturn({
    where: { userId, revokedAt: null },
    data: { revokedAt: now },
    select: { id: true },
  });
  const { defaultWorkspaceId } = await tx.user.update({ where: { id: userId }, data: { keysValidFrom: now } });
  for (const { id } of revoked) await enqueue(tx, tokenRevoked, defaultWorkspaceId ?? '', { tokenId: id });
  const grants = await deleteUserGrants(tx, userId);
  for (const { id, workspaceId } of grants) await enqueue(tx, tokenRevoked, workspaceId, { tokenId: id });
  return [...revoked, ...grants].map(({ id }) => id);
}

/** @throws AppError 404 for one that no longer belongs to the owner */
export async function getToken(db: Db, owner: TokenOwner, tokenId: string): Promise<Token> {
  const token = await db.token.findFirst({ where: { ...owner, id: tokenId, revokedAt: null } });
  if (!token) throw notFound('token', tokenId);
  return token;
}

export const findTokenById = (db: Db, tokenId: string): Promise<Token | null> =>
  db.token.findUnique({ where: { id: tokenId } });

export const sweepTokens = (pool: Pool): Promise<unknown> =>
  pool.query("DELETE FROM tokens WHERE revoked_at < now() - interval '30 days'");

/** A realistic chain of tokens that created tokens is shorter. */
const CREATOR_CHAIN_MAX = 10;

/** Returns, for each of these users and tokens, its id and those of its creators, their creators and so on. */
export async function loadCreatorChains(sql: Sql, ids: string[]): Promise<Map<string, Set<string>>> {
  const { rows } = await sql.query<{ root: string; id: string }>(
    `WITH RECURSIVE behind (root, id, depth) AS (
       SELECT root, root, 0 FROM unnest($1::text[]) AS root
       UNION
       SELECT b.root, t.created_by, b.depth + 1 FROM behind b JOIN tokens t ON t.id = b.id WHERE b.depth < $2
     ) SELECT root, id FROM behind`,
    [[...new Set(ids)], CREATOR_CHAIN_MAX],
  );
  const found = new Map<string, Set<string>>();
  for (const { root, id } of rows) found.set(root, (found.get(root) ?? new Set()).add(id));
  return found;
}

/** The display name of a user or a token; null if it no longer exists. */
export async function findPrincipalLabel(db: Db, id: string | null): Promise<string | null> {
  if (!id) return null;
  const user = await db.user.findUnique({ where: { id }, select: { name: true, email: true } });
  if (user) return user.name ?? user.email;
  return (await db.token.findUnique({ where: { id }, select: { name: true } }))?.name ?? null;
}
