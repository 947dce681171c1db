import { invalid, notFound } from '@gantry/errors';
import type { Principal } from '@gantry/limits';
import { buildVisibilityFilter, canSee } from '../access/ownership';
import type { Db } from '../database';
import type { FileEntry } from '../file-trees/file-tree';
import { releasePacks, type TreePack } from '../file-trees/tree-pack';
import type { Context, ContextVersion, Prisma } from '../generated/prisma/client';
import type { CredentialFinding } from './credential-findings';

export type ContextChangeSource = 'created' | 'files' | 'upload' | 'rollback' | 'run';

export interface Version
  extends Omit<ContextVersion, 'workspaceId' | 'files' | 'packDigest' | 'packKey' | 'packSize' | 'findings'> {
  files: FileEntry[];
  pack: TreePack;
  findings: CredentialFinding[];
  changeSource: ContextChangeSource;
}

type ContextKey = Pick<Context, 'uid' | 'workspaceId'>;

export function findContext(db: Db, workspaceId: string, name: string): Promise<Context | null> {
  return db.context.findFirst({ where: { workspaceId, name } });
}

/** @throws AppError 404, identical for an unknown context, another workspace's and another user's private one */
export async function getVisibleContext(db: Db, principal: Principal, name: string): Promise<Context> {
  const context = await findContext(db, principal.workspaceId, name);
  if (!context || !canSee(principal, context)) throw notFound('context', name);
  return context;
}

/** Contexts visible to the principal, with their current versions, newest first. */
export async function listContexts(db: Db, principal: Principal): Promise<{ context: Context; version: Version }[]> {
  const { workspaceId } = principal;
  const contexts = await db.context.findMany({
    where: { workspaceId, ...buildVisibilityFilter(principal) },
    orderBy: [{ createdAt: 'desc' }, { name: 'desc' }],
  });
  const rows = await db.contextVersion.findMany({
    where: {
      workspaceId,
      OR: contexts.map(({ uid, currentVersion }) => ({ contextUid: uid, number: currentVersion })),
    },
  });
  const byUid = new Map(rows.map((row) => [row.contextUid, toVersion(row)]));
  return contexts.flatMap((context) => {
    const version = byUid.get(context.uid);
    return version ? [{ context, version }] : [];
  });
}

/** False if the name is taken. */
export async function insertContext(tx: Db, context: Prisma.ContextCreateManyInput): Promise<boolean> {
  const { count } = await tx.context.createMany({ data: [context], skipDuplicates: true });
  return count > 0;
}

/** The current version, as named by the row. */
export async function getCurrentVersion(db: Db, context: Context): Promise<Version> {
  const { workspaceId, uid: contextUid, currentVersion: number } = context;
  const row = await db.contextVersion.findFirst({ where: { workspaceId, contextUid, number } });
  // Deleted between the two queries.
  if (!row) throw notFound('context', context.name);
  return toVersion(row);
}

/**
 * The newest version with that sha, or the only one whose sha has that prefix.
 * @throws AppError 404; 400 if several match
 */
export async function getVersionBySha(db: Db, { uid, workspaceId }: ContextKey, sha: string): Promise<Version> {
  const rows = await db.contextVersion.findMany({
    where: { workspaceId, contextUid: uid, sha: { startsWith: sha } },
    orderBy: { number: 'desc' },
    distinct: ['sha'],
    take: 2,
  });
  const [found, another] = rows;
  if (!found) throw notFound('version', sha, 'of this context');
  if (another)
    throw invalid([{ path: 'sha', message: 'several versions match this prefix; use a longer one' }], 'ambiguous');
  return toVersion(found);
}

/** Newest first. */
export async function listVersions(
  db: Db,
  { uid, workspaceId }: ContextKey,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ versions: Version[]; total: number }> {
  const where = { workspaceId, contextUid: uid };
  const [rows, total] = await Promise.all([
    db.contextVersion.findMany({ where, orderBy: { number: 'desc' }, take: limit, skip: offset }),
    db.contextVersion.count({ where }),
  ]);
  return { versions: rows.map(toVersion), total };
}

export async function hasVersionOfRun(db: Db, { uid, workspaceId }: ContextKey, runId: string): Promise<boolean> {
  return (await db.contextVersion.count({ where: { workspaceId, contextUid: uid, runId } })) > 0;
}

/** The number of the version that has this pack; null if there is none. */
export async function findVersionNumberByPack(
  db: Db,
  { uid, workspaceId }: ContextKey,
  packDigest: string,
): Promise<number | null> {
  const row = await db.contextVersion.findFirst({
    where: { workspaceId, contextUid: uid, packDigest },
    orderBy: { number: 'desc' },
    select: { number: true },
  });
  return row?.number ?? null;
}

/**
 * Appends a version and makes it the current one, by compare-and-set.
 * @returns false, with nothing written, if `after` is no longer the current one
 */
export async function appendVersion(
  tx: Db,
  { uid, workspaceId }: ContextKey,
  after: number,
  { pack, files, findings, ...columns }: Omit<Version, 'contextUid' | 'number' | 'createdAt'>,
): Promise<boolean> {
  const number = after + 1;
  const { count } = await tx.context.updateMany({
    where: { workspaceId, uid, currentVersion: after },
    data: { currentVersion: number },
  });
  if (!count) return false;
  await insertVersion(tx, workspaceId, { contextUid: uid, number, pack, files, findings, ...columns });
  return true;
}

export async function insertVersion(tx: Db, workspaceId: string, version: Omit<Version, 'createdAt'>): Promise<void> {
  const { pack, files, findings, ...columns } = version;
  await tx.contextVersion.create({
    data: {
      ...columns,
      workspaceId,
      files,
      findings,
      packDigest: pack.digest,
      packKey: pack.key,
      packSize: pack.size,
    },
  });
}

/** Deletes its versions too. */
export async function deleteContextRows(tx: Db, { uid, workspaceId }: ContextKey): Promise<void> {
  const keys = 'SELECT DISTINCT pack_key FROM context_versions WHERE workspace_id = $1 AND context_uid = $2';
  await releasePacks(tx, keys, [workspaceId, uid]);
  await tx.context.deleteMany({ where: { workspaceId, uid } });
}

/** Condition: a version has this pack. */
export const buildContextHasPackSql = (key: string): string =>
  `EXISTS (SELECT FROM context_versions WHERE pack_key = ${key})`;

const toVersion = ({ packDigest, packKey, packSize, ...row }: ContextVersion): Version => ({
  ...row,
  changeSource: row.changeSource as ContextChangeSource,
  files: row.files as FileEntry[],
  findings: row.findings as CredentialFinding[],
  pack: { digest: packDigest, key: packKey, size: packSize },
});
