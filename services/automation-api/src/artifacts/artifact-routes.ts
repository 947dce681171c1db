import { newId } from '@gantry/events';
import { created, type Operations, ok } from '@gantry/http';
import { EXPIRES_SECONDS_MAX } from '@gantry/object-store';
import { ZIP_BYTES_MAX } from '@gantry/program';
import { listDependencyLocks, loadInstallation } from '@gantry/run-engine';
import type { Deps } from '../deps';
import { getArtifact } from './artifact-repository';
import { createArtifact } from './create-artifact';
import { parseStoredManifest } from './manifest';
import { getDependencies, toCodeVersionRef } from './runnable';

export function createArtifactOperations(deps: Deps): Operations<'automation'> {
  const { prisma, objects } = deps;
  return {
    createUploadUrl: async ({ caller }) => {
      const { workspaceId, userId } = caller;
      const storageKey = `${workspaceId}/uploads/${newId('up_')}`;
      const expiresAt = deps.now().getTime() + EXPIRES_SECONDS_MAX * 1_000;
      const uploadUrl = await objects.presignPut(storageKey, {
        sizeMax: ZIP_BYTES_MAX,
        expiresSeconds: EXPIRES_SECONDS_MAX,
        audience: 'public',
      });
      await prisma.upload.create({ data: { workspaceId, storageKey, createdBy: userId } });
      return ok({ uploadUrl, storageKey, maxBytes: ZIP_BYTES_MAX, expiresAt });
    },

    createArtifact: {
      create: async (call) => created(await createArtifact(deps, call)),
      assertVisible: ({ caller }, artifactId) => getArtifact(prisma, caller.workspaceId, artifactId),
    },

    getArtifactCode: async ({ caller, path }) => {
      const artifact = await getArtifact(prisma, caller.workspaceId, path.artifactId);
      const downloadUrl = await objects.presignGet(artifact.codeKey, {
        expiresSeconds: EXPIRES_SECONDS_MAX,
        audience: 'public',
        filename: `${artifact.id}.zip`,
        contentType: 'application/zip',
      });
      const dependencies = getDependencies(artifact, parseStoredManifest(artifact.manifest));
      const code = toCodeVersionRef(artifact.id);
      const lockedDependencies = await listDependencyLocks(deps.pool, artifact.workspaceId, code);
      const installation = await loadInstallation(deps.pool, artifact.workspaceId, {
        ...dependencies,
        code,
        locks: lockedDependencies,
      });
      return ok({
        downloadUrl,
        fileList: artifact.files,
        ...dependencies,
        lockedDependencies,
        installation: {
          ...installation,
          startedAt: installation.startedAt?.toISOString() ?? null,
          finishedAt: installation.finishedAt?.toISOString() ?? null,
        },
      });
    },
  };
}
