import { notFound } from '@gantry/errors';
import type { Db } from '../database';
import type { Artifact } from '../generated/prisma/client';

/** @throws AppError 404, the same for an unknown artifact and one of another workspace */
export async function getArtifact(db: Db, workspaceId: string, id: string): Promise<Artifact> {
  const artifact = await db.artifact.findFirst({ where: { id, workspaceId } });
  if (!artifact) throw notFound('artifact', id);
  return artifact;
}

/** SQL value: a JSON list of the names of secrets that an artifact declares. */
export const buildSecretsNeededSql = (artifactId: string): string =>
  `coalesce((SELECT f.manifest -> 'secrets_needed' FROM artifacts f WHERE f.id = ${artifactId}), '[]')`;
