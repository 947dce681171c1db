import type { Db } from '../database';
import type { Token } from '../generated/prisma/client';

/** Whose tokens: a user's personal ones, or a workspace's. */
export type TokenOwner = { userId: string } | { workspaceId: string };

export type NewToken = Pick<Token, 'id' | 'name' | 'prefix' | 'pepperVersion' | 'role' | 'createdBy' | 'expiresAt'> & {
  hash: Buffer;
  defaultWorkspaceId: string | null;
};

export function insertToken(tx: Db, owner: TokenOwner, { hash, ...token }: NewToken): Promise<Token> {
  return tx.token.create({ data: { ...owner, ...token, hash: new Uint8Array(hash) } });
}

/** Newest first; those that were not revoked, expired ones too. */
export function listTokens(db: Db, owner: TokenOwner): Promise<Token[]> {
  return db.token.findMany({
    where: { ...owner, revokedAt: null },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  });
}

export function countTokens(db: Db, owner: TokenOwner): Promise<number> {
  return db.token.count({ where: { ...owner, revokedAt: null } });
}

/** False if the owner has no such token. */
export async function markRevoked(tx: Db, owner: TokenOwner, tokenId: string): Promise<boolean> {
  const { count } = await tx.token.updateMany({
    where: { ...owner, id: tokenId, revokedAt: null },
    data: { revokedAt: new Date() },
  });
  return count > 0;
}

export const findTokenById = (db: Db, tokenId: string): Promise<Token | null> =>
  db.token.findUnique({ where: { id: tokenId } });
