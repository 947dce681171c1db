import { newId } from '@gantry/events';
import { callerOf, creating, madeBy, type Operations } from '@gantry/http';
import { EXPIRES_SECONDS_MAX } from '@gantry/object-store';
import { ZIP_BYTES_MAX } from '@gantry/program';
import { auditOf } from '../audit/audit';
import type { Deps } from '../deps';
import { pathParam } from '../path-param';
import { getArtifact } from './artifact-repository';
import { createArtifact } from './create-artifact';
import { insertUpload } from './upload-repository';

export function artifactOperations(deps: Deps): Operations {
  const { prisma, objects } = deps;
  return {
    createUploadUrl: async (req, res) => {
      const { workspaceId, userId } = callerOf(req);
      const storageKey = `${workspaceId}/uploads/${newId('up_')}`;
      const expiresAt = deps.now().getTime() + EXPIRES_SECONDS_MAX * 1_000;
      const uploadUrl = await objects.presignPut(storageKey, {
        sizeMax: ZIP_BYTES_MAX,
        expiresSeconds: EXPIRES_SECONDS_MAX,
        audience: 'public',
      });
      await insertUpload(prisma, workspaceId, { storageKey, createdBy: userId });
      res.json({ uploadUrl, storageKey, maxBytes: ZIP_BYTES_MAX, expiresAt });
    },

    createArtifact: creating(
      async (req, res) => {
        res.status(201).json(await createArtifact(deps, callerOf(req), auditOf(req), madeBy(req), req.body));
      },
      { see: (req, artifactId) => getArtifact(prisma, callerOf(req).workspaceId, artifactId) },
    ),

    getArtifactCode: async (req, res) => {
      const artifact = await getArtifact(prisma, callerOf(req).workspaceId, pathParam(req, 'artifactId'));
      const downloadUrl = await objects.presignGet(artifact.codeKey, {
        expiresSeconds: EXPIRES_SECONDS_MAX,
        audience: 'public',
        filename: `${artifact.id}.zip`,
        contentType: 'application/zip',
      });
      res.json({ downloadUrl, fileList: artifact.files });
    },
  };
}
