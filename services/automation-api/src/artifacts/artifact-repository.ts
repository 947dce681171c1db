import { notFound } from '@gantry/http';
import type { Db } from '../database';
import type { Artifact } from '../generated/prisma/client';

/** @throws AppError 404, the same for an unknown one and another workspace's */
export async function getArtifact(db: Db, workspaceId: string, id: string): Promise<Artifact> {
  const artifact = await db.artifact.findFirst({ where: { id, workspaceId } });
  if (!artifact) throw notFound('artifact', id);
  return artifact;
}
