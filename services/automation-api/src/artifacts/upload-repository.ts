import { notFound } from '@gantry/errors';
import type { ObjectStore } from '@gantry/object-store';
import type { Db } from '../database';

/** An upload can be read any number of times. @throws AppError 404, the same for one of another workspace */
export async function getUpload(db: Db, workspaceId: string, storageKey: string): Promise<{ storageKey: string }> {
  const upload = await db.upload.findFirst({ where: { storageKey, workspaceId } });
  if (!upload) throw notFound('upload', storageKey);
  return upload;
}

const RETENTION_HOURS = 48;
const SWEEP_BATCH = 100;

/**
 * Deletes old uploads: artifacts have copies, and runs read theirs soon after the upload.
 * @returns the number deleted
 */
export async function sweepUploads(db: Db, objects: ObjectStore, now: Date): Promise<number> {
  const before = new Date(now.getTime() - RETENTION_HOURS * 3_600_000);
  for (let swept = 0; ; ) {
    const old = await db.upload.findMany({ where: { createdAt: { lt: before } }, take: SWEEP_BATCH });
    for (const { storageKey } of old) {
      await objects.delete(storageKey);
      await db.upload.deleteMany({ where: { storageKey } });
    }
    swept += old.length;
    if (old.length < SWEEP_BATCH) return swept;
  }
}
