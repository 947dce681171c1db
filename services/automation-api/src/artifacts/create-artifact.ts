import { findPathProblem } from '@gantry/archive';
import { AppError, invalid, runChecks } from '@gantry/errors';
import { newId } from '@gantry/events';
import type { OperationCall } from '@gantry/http';
import { ObjectMissingError, ObjectTooLargeError } from '@gantry/object-store';
import { transaction } from '@gantry/postgres';
import {
  createLimiter,
  formatInspectionWarnings,
  getFileDependencies,
  inspectEntrypoint,
  packFiles,
  readArchive,
  ZIP_BYTES_MAX,
} from '@gantry/program';
import { createAudit } from '../audit/audit';
import type { Deps } from '../deps';
import { announceDependencies } from './announce-dependencies';
import { buildCodeKey, type FileEntry } from './artifact';
import { parseManifest } from './manifest';
import { toCodeVersionRef } from './runnable';
import { getUpload } from './upload-repository';

/** An unpacked upload takes up to 100 MB of memory. */
const limitUnpacking = createLimiter(2, 20);
const INSPECT_URL_SECONDS = 60;

/** Checks everything that needs no run of the code, and stores what runs will need. */
export async function createArtifact(
  deps: Deps,
  { caller, markCreated, req, body: input }: OperationCall<'automation', 'createArtifact'>,
) {
  const { prisma, bus, objects } = deps;
  const { workspaceId } = caller;
  const { entrypoint } = input;
  const [manifest] = runChecks(
    () => parseManifest(input.manifest),
    () => checkEntrypoint(entrypoint),
  );
  const { storageKey } = await getUpload(prisma, workspaceId, input.storageKey);

  return limitUnpacking(async () => {
    const files = await readArchive(await readUpload(deps, storageKey), 'storageKey');
    if (!files.some(({ path }) => path === entrypoint)) {
      throw invalidEntrypointError(`there is no file "${entrypoint}" in the zip`);
    }
    const fileDependencies = manifest.python_dependencies.length
      ? null
      : await getFileDependencies(bus, entrypoint, files);
    const { zip, digest } = await packFiles(files);
    const codeKey = buildCodeKey(workspaceId, digest);
    if (!(await objects.head(codeKey))) await objects.put(codeKey, zip, { contentType: 'application/zip' });
    const url = await objects.presignGet(codeKey, { audience: 'internal', expiresSeconds: INSPECT_URL_SECONDS });
    const inspected = await inspectEntrypoint(bus, { code: { digest, url, size: zip.length }, entrypoint });

    const fileList: FileEntry[] = files.map(({ path, content, hash }) => ({ path, size: content.length, hash }));
    const artifact = {
      id: newId('art_'),
      digest,
      fileCount: fileList.length,
      totalSize: fileList.reduce((sum, { size }) => sum + size, 0),
    };
    const { id: artifactId, ...rest } = artifact;
    const declared = {
      inputs: manifest.inputs,
      dependencies: fileDependencies?.packages ?? manifest.python_dependencies,
      secrets: manifest.secrets_needed,
    };
    const created = {
      artifactId,
      ...rest,
      dependencies: declared.dependencies,
      /** Path of the file that declares them; null: the manifest does. */
      dependenciesSource: fileDependencies?.source ?? null,
      warnings: formatInspectionWarnings(inspected, declared),
    };
    await transaction(prisma, async (tx) => {
      const data = {
        ...artifact,
        workspaceId,
        codeKey,
        codeSize: zip.length,
        entrypoint,
        manifest: input.manifest as object,
        files: fileList as object[],
        ...(fileDependencies && { fileDependencies: { ...fileDependencies } }),
        createdBy: caller.userId,
      };
      await tx.artifact.create({ data });
      await createAudit(req)(tx, {
        action: 'artifact.created',
        id: artifact.id,
        details: { name: manifest.name, digest },
      });
      // The warnings are not stored anywhere else.
      await markCreated(tx, artifact.id, { status: 201, body: created });
    });
    const { dependencies } = declared;
    await announceDependencies(deps, workspaceId, { dependencies, lockedCode: toCodeVersionRef(artifact.id) });
    return created;
  });
}

function checkEntrypoint(entrypoint: string): void {
  const problem = entrypoint.endsWith('/') ? 'is a directory' : findPathProblem(entrypoint);
  if (problem) throw invalidEntrypointError(`"${entrypoint}" ${problem}`);
  if (!entrypoint.endsWith('.py')) throw invalidEntrypointError('must name a Python file, like main.py or src/main.py');
}

const invalidEntrypointError = (message: string) => invalid([{ path: 'entrypoint', message }], 'bad_entrypoint');

async function readUpload({ objects }: Deps, storageKey: string): Promise<Buffer> {
  try {
    return await objects.getBuffer(storageKey, ZIP_BYTES_MAX);
  } catch (err) {
    if (err instanceof ObjectTooLargeError) {
      throw new AppError('too_large', 'too_large', `the zip is larger than ${ZIP_BYTES_MAX / 1024 / 1024} MB`);
    }
    if (err instanceof ObjectMissingError) {
      const message = 'nothing has been uploaded there yet: PUT the zip to uploadUrl first';
      throw invalid([{ path: 'storageKey', message }], 'not_uploaded');
    }
    throw err;
  }
}
