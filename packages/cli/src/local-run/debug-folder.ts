/** The code of a run as a folder of a workspace, with the contexts that it declares beside it. */
import fs from 'node:fs';
import path from 'node:path';
import { ApiError, type Gantry, paginate, type Run, unwrap } from '@gantry/sdk';
import { CommandError, EXIT } from '../errors';
import { loadContextFiles } from '../remote-context';
import { loadBundle } from '../remote-worker';
import type { LocalFile } from '../worker-folder';
import { CONTEXTS_FILE, WORKERS } from '../workspace-folder';

/**
 * Writes what is not there yet.
 * @returns the folder of the worker, whether it was there, perhaps with changes of a person, and differences from the run
 * @throws CommandError for a run of a draft; ApiError
 */
export async function writeDebugFolder(gantry: Gantry, run: Run, root: string) {
  const { worker_id: workerId, worker_version: version } = run;
  const dir = path.join(root, WORKERS, workerId);
  if (fs.existsSync(path.join(dir, 'worker.yaml'))) return { dir, isKept: true, notes: [] };
  if (version === null) {
    throw new CommandError(`run ${run.id} used a draft, whose code exists only in the browser`, EXIT.failed);
  }
  const params = { path: { worker_id: workerId } };
  const sha = await findSha(gantry, workerId, version);
  const { definition } = await unwrap(
    gantry.worker.GET('/api/workers/{worker_id}/versions/{sha}', { params: { path: { ...params.path, sha } } }),
  );
  const files = (await loadBundle(gantry, workerId, sha)).map((file) => ({
    ...file,
    path: `${WORKERS}/${workerId}/${file.path}`,
  }));
  const contexts = await loadContexts(gantry, definition.contexts);
  for (const file of [...files, ...contexts.files]) {
    const target = path.join(root, file.path);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.writeFileSync(target, file.content);
  }
  return { dir, isKept: false, notes: contexts.notes };
}

async function findSha(gantry: Gantry, workerId: string, version: number): Promise<string> {
  const versions = paginate(gantry.worker, '/api/workers/{worker_id}/versions', {
    params: { path: { worker_id: workerId } },
  });
  for await (const one of versions) if (one.version === version) return one.sha;
  throw new CommandError(`${workerId} no longer has version ${version}`, EXIT.failed);
}

/** As they are now: the run may have read earlier versions. Those that the caller may not read are empty. */
async function loadContexts(gantry: Gantry, names: string[]): Promise<{ files: LocalFile[]; notes: string[] }> {
  const files: LocalFile[] = [];
  const notes: string[] = [];
  const entries: Record<string, object> = {};
  for (const name of names) {
    entries[name] = {};
    try {
      const { writeable } = await unwrap(gantry.worker.GET('/api/contexts/{name}', { params: { path: { name } } }));
      entries[name] = { writeable };
      files.push(...(await loadContextFiles(gantry, name)));
      notes.push(`context ${name} has its current content; the run may have read an earlier version`);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status < 400 || error.status >= 500) throw error;
      notes.push(`context ${name} cannot be read and is empty here: ${error.message}`);
    }
  }
  if (!names.length) return { files, notes };
  const { stringify } = await import('yaml');
  return { files: [...files, { path: CONTEXTS_FILE, content: Buffer.from(stringify(entries)) }], notes };
}
