/** A worker on the server, as a folder is compared with it. */
import {
  ApiError,
  createIdempotencyKey,
  type Gantry,
  paginate,
  readApiError,
  unwrap,
  type WorkerSchemas,
} from '@gantry/sdk';
import { collectItems } from './collect-items';
import { CommandError, EXIT } from './errors';
import { Upload } from './http-messages';
import { encodeForm } from './multipart';
import type { Session } from './session';
import { compareFiles, compareSettings, type WorkerDiff } from './worker-diff';
import {
  type Deployment,
  hashManifest,
  type LocalFile,
  parseManifest,
  readDeployment,
  storeDeployment,
  type WorkerFolder,
} from './worker-folder';

export type Worker = WorkerSchemas['Worker'];
export type ChangedWorker = WorkerSchemas['ChangedWorker'];

/** As an export can be at most, and a little more. */
const BUNDLE_LIMITS = { entries: 2_000, bytes: 12 * 1024 * 1024 };

const buildWorkerPath = (workerId: string) => ({ path: { worker_id: workerId } });

/** @returns null where there is none that the caller may see. @throws ApiError */
export async function findWorker(gantry: Gantry, workerId: string): Promise<Worker | null> {
  try {
    return await unwrap(gantry.worker.GET('/api/workers/{worker_id}', { params: buildWorkerPath(workerId) }));
  } catch (error) {
    if (error instanceof ApiError && error.status === 404 && error.code !== 'unknown') return null;
    throw error;
  }
}

/** Loads which worker of this server a folder is. */
export async function loadRemoteFolder(session: Session, gantry: Gantry, dir: string) {
  const { url } = session.target();
  const { workspace_id: workspaceId } = await unwrap(gantry.worker.GET('/auth/me'));
  return { url, workspaceId, deployment: readDeployment(dir, url, workspaceId) };
}

/** @returns the id that the option, the folder or the manifest names. @throws CommandError where none does */
export async function resolveWorkerId(
  session: Session,
  gantry: Gantry,
  workerArgument: string | undefined,
): Promise<string> {
  const found = workerArgument ?? (await loadRemoteFolder(session, gantry, '.')).deployment?.worker_id;
  if (found) return found;
  throw new CommandError(
    'this folder has not been deployed to this server',
    EXIT.usage,
    'Specify a worker, or deploy the folder: gantry deploy',
  );
}

/** Records that the folder knows this version, so that a later deployment may replace it. */
export async function updateDeployedSha(session: Session, gantry: Gantry, sha: string): Promise<void> {
  const { url, workspaceId, deployment } = await loadRemoteFolder(session, gantry, '.');
  if (deployment) storeDeployment('.', url, workspaceId, { ...deployment, sha });
}

/** The files and the manifest of the export, read under the rules for archives of strangers. */
export async function loadBundle(gantry: Gantry, workerId: string, sha?: string): Promise<LocalFile[]> {
  const { readZip } = await import('@gantry/archive');
  const bundle = await unwrap(
    gantry.worker.GET('/api/workers/{worker_id}/bundle.zip', {
      params: { ...buildWorkerPath(workerId), ...(sha !== undefined && { query: { version: sha } }) },
      parseAs: 'arrayBuffer',
    }),
  );
  const entries = await readZip(Buffer.from(bundle as ArrayBuffer), BUNDLE_LIMITS);
  const files: LocalFile[] = [];
  for (const entry of entries) {
    if (!entry.isDirectory) files.push({ path: entry.path, content: await entry.content() });
  }
  return files;
}

/** @param worker null: the folder becomes a new one */
export async function compareWithServer(
  gantry: Gantry,
  worker: Worker | null,
  folder: WorkerFolder,
  deployment: Deployment | undefined,
): Promise<WorkerDiff> {
  if (!worker) return { files: compareFiles([], folder.files), settings: [] };
  const params = buildWorkerPath(worker.id);
  const remote = await collectItems(paginate(gantry.worker, '/api/workers/{worker_id}/files', { params }));
  const bundle = await loadBundle(gantry, worker.id);
  const exported = bundle.find(({ path }) => path === 'worker.yaml')?.content.toString() ?? '{}';
  return {
    files: compareFiles(remote, folder.files),
    settings: compareSettings({
      worker: { ...worker },
      exported: await parseManifest('worker.yaml of the server', exported),
      manifest: folder.manifest,
      isDeployed: deployment?.sha === worker.sha && deployment.manifest_sha === hashManifest(folder.manifestText),
    }),
  };
}

interface UploadOptions {
  /** Null: a new one. */
  workerId: string | null;
  newId?: string;
  message: string | undefined;
  onProgress?: (sentBytes: number, totalBytes: number) => void;
}

/** Sends a folder as a bundle: a new worker, or all of an existing one. @param newId of a new one. @throws ApiError */
export async function uploadFolder(
  gantry: Gantry,
  folder: WorkerFolder,
  { workerId, newId, message, onProgress = () => {} }: UploadOptions,
): Promise<ChangedWorker> {
  const { writeZip } = await import('@gantry/archive');
  const manifest = { path: folder.manifestPath, content: Buffer.from(folder.manifestText) };
  const zip = await writeZip([manifest, ...folder.files]);
  const fields = { ...(message !== undefined && { message }), ...(newId !== undefined && { id: newId }) };
  const form = encodeForm(fields, { field: 'bundle', name: 'worker.zip', type: 'application/zip', content: zip });
  const path = workerId === null ? '/api/workers' : `/api/workers/${encodeURIComponent(workerId)}`;
  const response = await gantry.request('worker', path, {
    method: workerId === null ? 'POST' : 'PUT',
    // An upload that was cut off is sent again, and makes one worker.
    headers: { 'Content-Type': form.type, ...(workerId === null && { 'Idempotency-Key': createIdempotencyKey() }) },
    body: new Upload(form.bytes, (sentBytes) => onProgress(sentBytes, form.bytes.length)) as never,
  });
  if (!response.ok) throw addProblemLocations(await readApiError(response), folder);
  return (await response.json()) as ChangedWorker;
}

/** The same error, with the places in the manifest of the fields that were refused. */
function addProblemLocations(error: ApiError, { manifest, locate }: WorkerFolder): ApiError {
  const fields = error.fields.map((field) => {
    const [top = '', ...rest] = field.path.split('.');
    return Object.hasOwn(manifest, top) ? { ...field, path: `${locate([top, ...rest])}: ${field.path}` } : field;
  });
  const { status, code, message, requestId, retryAfter } = error;
  return new ApiError(status, code, message, fields, requestId, retryAfter);
}
