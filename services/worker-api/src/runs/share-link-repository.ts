/** Stores links that show one run to people without an account. Only a hash of their token is kept. */
import { createOpaqueToken, type TokenHasher } from '@gantry/auth';
import { notFound, unknownLinkError } from '@gantry/errors';
import { newId } from '@gantry/events';
import type { Sql } from '@gantry/postgres';
import type { Db } from '../database';
import type { RunShareLink, Worker } from '../generated/prisma/client';

/** @returns the token, which is not stored */
export async function insertShareLink(
  tx: Db,
  hasher: TokenHasher,
  link: Omit<RunShareLink, 'id' | 'hash' | 'createdAt'>,
): Promise<{ link: RunShareLink; token: string }> {
  const token = createOpaqueToken('shr_');
  const { hash } = hasher.hash(token);
  const data = { id: newId('shl_'), hash: new Uint8Array(hash), ...link };
  return { link: await tx.runShareLink.create({ data }), token };
}

/** Newest first; those that have not expired. */
export const listShareLinks = (db: Db, workspaceId: string, runId: string, now: Date): Promise<RunShareLink[]> =>
  db.runShareLink.findMany({
    where: { workspaceId, runId, expiresAt: { gt: now } },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  });

/** @throws AppError 404, also for a link of another run */
export async function getShareLink(
  db: Db,
  runKey: { workspaceId: string; runId: string },
  id: string,
): Promise<RunShareLink> {
  const link = await db.runShareLink.findFirst({ where: { ...runKey, id } });
  if (!link) throw notFound('share link', id);
  return link;
}

/** Returns false if another request was faster. */
export async function deleteShareLink(tx: Db, id: string): Promise<boolean> {
  return (await tx.runShareLink.deleteMany({ where: { id } })).count > 0;
}

export type ResolvedShareLink = RunShareLink & { worker: Worker };

/**
 * Finds a link by its token. It works as long as the person who made it is a member who sees the worker.
 * @throws AppError 404, the same for a token that is wrong, revoked, expired or of something that is gone
 */
export async function resolveShareLink(
  db: Db,
  hasher: TokenHasher,
  token: string,
  now: Date,
): Promise<ResolvedShareLink> {
  const found = await db.runShareLink.findFirst({
    where: {
      hash: { in: hasher.candidatesForPrefix('shr_', token) },
      expiresAt: { gt: now },
      worker: { deletedAt: null, workspace: { deletedAt: null } },
    },
    include: { worker: true, membership: true },
  });
  const isVisibleToMember =
    found?.worker.visibility === 'workspace' ||
    found?.worker.ownerId === found?.createdBy ||
    found?.membership.role === 'owner' ||
    found?.membership.role === 'admin';
  if (!found || !isVisibleToMember || !hasher.matches(token, found.hash)) throw unknownLinkError('share link');
  return found;
}

/** Expired ones. */
export const sweepShareLinks = (sql: Sql): Promise<unknown> =>
  sql.query("DELETE FROM share_links WHERE expires_at < now() - interval '1 day'");

export const deleteShareLinks = (sql: Sql, runIds: string[]): Promise<unknown> =>
  sql.query('DELETE FROM share_links WHERE run_id = ANY($1)', [runIds]);
