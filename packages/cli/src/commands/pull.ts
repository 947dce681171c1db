import fs from 'node:fs';
import path from 'node:path';
import { type GantryCommand, withSession } from '../command';
import { CommandError, EXIT, usageError } from '../errors';
import { findWorker, loadBundle, loadRemoteFolder } from '../remote-worker';
import { mergeLocalManifest, replaceFiles } from '../replace-files';
import type { GlobalOptions, Session } from '../session';
import { bold, text } from '../text';
import { hashManifest, listFiles, storeDeployment } from '../worker-folder';

export function registerPull(program: GantryCommand): void {
  program
    .command('pull')
    .description('Download the current version of a worker')
    .argument('[worker]', 'Worker ID (default: the worker of this folder)')
    .argument('[folder]', 'Target folder (default: this one, or a new one named after the worker)')
    .action(withSession<[string | undefined, string | undefined], GlobalOptions>(pullWorker));
}

async function pullWorker(
  session: Session,
  workerArgument: string | undefined,
  folderArgument: string | undefined,
): Promise<void> {
  const gantry = session.gantry();
  const localFolder = await loadRemoteFolder(session, gantry, '.');
  const workerId = workerArgument ?? localFolder.deployment?.worker_id;
  if (!workerId)
    throw usageError('this folder has not been deployed to this server', 'Specify a worker: gantry pull <worker>');
  const dir = folderArgument ?? (workerId === localFolder.deployment?.worker_id ? '.' : workerId);
  const worker = await findWorker(gantry, workerId);
  if (!worker) throw new CommandError(`worker ${workerId} not found`, EXIT.failed, 'See: gantry workers list');
  const files = await mergeLocalManifest(dir, worker, await loadBundle(gantry, workerId, worker.sha));
  // A folder that is no worker keeps what it has: nothing of it would be deployed.
  const isWorker = fs.existsSync(path.join(dir, 'worker.yaml'));
  const changes = await replaceFiles(session, dir, files, isWorker ? listFiles(dir) : []);
  const manifest = files.find(({ path: name }) => name === 'worker.yaml')?.content.toString() ?? '';
  const deployment = { worker_id: worker.id, sha: worker.sha, manifest_sha: hashManifest(manifest) };
  storeDeployment(dir, localFolder.url, localFolder.workspaceId, deployment);
  session.output.print(
    { worker_id: worker.id, version: worker.version, folder: path.resolve(dir), ...changes },
    () => text`Wrote version ${worker.version} of ${bold(worker.id)} to ${path.resolve(dir)}`,
  );
}
