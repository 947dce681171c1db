import { invalid, notFound } from '@gantry/errors';
import { enqueue, workerSkillPinned } from '@gantry/events';
import type { Db } from '../database';
import type { FileEntry } from '../file-trees/file-tree';
import type { TreePack } from '../file-trees/tree-pack';
import type { Prisma, Worker, WorkerVersion } from '../generated/prisma/client';
import { type Definition, parseStoredDefinition } from './definition';

export type ChangeSource = 'created' | 'edited' | 'files' | 'bundle' | 'rollback' | 'candidate';

type JsonColumn = 'definition' | 'files' | 'onlyWorkers';

/** A version as others need it: how it runs, and where its code lies. */
export interface Version
  extends Omit<WorkerVersion, 'workspaceId' | 'codeDigest' | 'codeKey' | 'codeSize' | JsonColumn> {
  definition: Definition;
  files: FileEntry[];
  code: TreePack;
  changeSource: ChangeSource;
  /** Ids of the only workers that its runs may call: those that the token that wrote its files was for. Null: any. */
  onlyWorkers: string[] | null;
}

/** A page of whole ones could be large. */
export type ListedVersion = Omit<Version, 'definition' | 'onlyWorkers'>;

/** Identifies one worker in one workspace. */
export type WorkerKey = Pick<Worker, 'uid' | 'workspaceId'>;

export async function findVersion(db: Db, { uid, workspaceId }: WorkerKey, number: number): Promise<Version | null> {
  const row = await db.workerVersion.findFirst({ where: { workspaceId, workerUid: uid, number } });
  return row && toVersion(row);
}

export async function getVersion(db: Db, worker: WorkerKey, number: number): Promise<Version> {
  const version = await findVersion(db, worker, number);
  if (!version) throw notFound('version', String(number), 'of this worker');
  return version;
}

export const getCurrentVersion = (db: Db, worker: WorkerKey & Pick<Worker, 'currentVersion'>): Promise<Version> =>
  getVersion(db, worker, worker.currentVersion);

/**
 * The newest version with that sha, or with the only one that begins so.
 * @throws AppError 404; 400 where several do
 */
export async function getVersionBySha(db: Db, worker: WorkerKey, sha: string): Promise<Version> {
  const { uid, workspaceId } = worker;
  const found = await db.workerVersion.findMany({
    where: { workspaceId, workerUid: uid, sha: { startsWith: sha } },
    orderBy: { number: 'desc' },
    select: { number: true, sha: true },
  });
  const [newest] = found;
  if (!newest) throw notFound('version', sha, 'of this worker');
  if (found.some((one) => one.sha !== newest.sha)) {
    throw invalid([{ path: 'sha', message: 'several versions match this prefix; use a longer one' }], 'ambiguous');
  }
  return getVersion(db, worker, newest.number);
}

/** By its sha, as getVersionBySha does; the current one where the request names none. @throws AppError 404, 400 */
export const getRequestedVersion = (
  db: Db,
  worker: WorkerKey & Pick<Worker, 'currentVersion'>,
  sha: string | undefined,
): Promise<Version> => (sha === undefined ? getCurrentVersion(db, worker) : getVersionBySha(db, worker, sha));

/** The one that the history has before it; null: it is the first. */
export async function findPreviousVersion(
  db: Db,
  { uid, workspaceId }: WorkerKey,
  number: number,
): Promise<Version | null> {
  const where = { workspaceId, workerUid: uid, number: { lt: number } };
  const row = await db.workerVersion.findFirst({ where, orderBy: { number: 'desc' } });
  return row && toVersion(row);
}

/** Newest first. */
export async function listVersions(
  db: Db,
  { uid, workspaceId }: WorkerKey,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ versions: ListedVersion[]; total: number }> {
  const where = { workspaceId, workerUid: uid };
  const omit = { definition: true, onlyWorkers: true } as const;
  const [rows, total] = await Promise.all([
    db.workerVersion.findMany({ where, omit, orderBy: { number: 'desc' }, take: limit, skip: offset }),
    db.workerVersion.count({ where }),
  ]);
  return { versions: rows.map(toListedVersion), total };
}

/** Newest first; of versions that are equal the newest. */
export async function listNewestVersions(
  db: Db,
  { uid, workspaceId }: WorkerKey,
  limit: number,
): Promise<Pick<Version, 'sha' | 'number' | 'createdAt'>[]> {
  const rows = await db.workerVersion.groupBy({
    by: ['sha'],
    where: { workspaceId, workerUid: uid },
    _max: { number: true, createdAt: true },
    orderBy: { _max: { number: 'desc' } },
    take: limit,
  });
  return rows.flatMap(({ sha, _max: { number, createdAt } }) =>
    number && createdAt ? [{ sha, number, createdAt }] : [],
  );
}

export type NewVersion = Omit<Version, 'createdAt' | 'onlyWorkers'> & Partial<Pick<Version, 'onlyWorkers'>>;

/** The skill that it is a copy of is announced with each new version. */
export async function insertVersion(tx: Db, workspaceId: string, version: NewVersion): Promise<void> {
  await enqueueSkillEvent(tx, workspaceId, version);
  const { definition, files, code, onlyWorkers, ...columns } = version;
  await tx.workerVersion.create({
    data: {
      ...columns,
      workspaceId,
      definition: definition as Prisma.InputJsonObject,
      files,
      codeDigest: code.digest,
      codeKey: code.key,
      codeSize: code.size,
      ...(onlyWorkers && { onlyWorkers }),
    },
  });
}

async function enqueueSkillEvent(
  tx: Db,
  workspaceId: string,
  { workerUid, number: revision, definition: { skill } }: NewVersion,
): Promise<void> {
  if (skill === null) {
    const before = await findPreviousVersion(tx, { uid: workerUid, workspaceId }, revision);
    if (!before?.definition.skill) return;
  }
  const [slug = '', contentHash = ''] = skill?.split('@') ?? [];
  await enqueue(tx, workerSkillPinned, workspaceId, {
    workerUid,
    revision,
    skill: skill === null ? null : { slug, contentHash },
  });
}

/** Announces that a deleted worker has no skill any more: it has no version after this. */
export async function enqueueSkillRemovedEvent(
  tx: Db,
  worker: WorkerKey & Pick<Worker, 'currentVersion'>,
): Promise<void> {
  const { number, definition } = await getCurrentVersion(tx, worker);
  if (definition.skill === null) return;
  const { uid: workerUid, workspaceId } = worker;
  await enqueue(tx, workerSkillPinned, workspaceId, { workerUid, revision: number + 1, skill: null });
}

function toVersion(row: WorkerVersion): Version {
  const onlyWorkers = row.onlyWorkers as string[] | null;
  return { ...toListedVersion(row), definition: parseStoredDefinition(row.definition), onlyWorkers };
}

function toListedVersion({
  workspaceId: _,
  codeDigest: digest,
  codeKey: key,
  codeSize: size,
  ...row
}: Omit<WorkerVersion, 'definition' | 'onlyWorkers'>): ListedVersion {
  const changeSource = row.changeSource as ChangeSource;
  return { ...row, changeSource, files: row.files as FileEntry[], code: { digest, key, size } };
}
