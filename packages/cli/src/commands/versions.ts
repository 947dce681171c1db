import { createIdempotencyKey, type Gantry, paginate, unwrap, type WorkerSchemas } from '@gantry/sdk';
import { collectItems } from '../collect-items';
import { type GantryCommand, parseCount, withSession } from '../command';
import { CommandError, EXIT } from '../errors';
import { printTable } from '../output';
import { resolveWorkerId, updateDeployedSha } from '../remote-worker';
import type { GlobalOptions, Session } from '../session';
import { bold, green, text } from '../text';
import { formatTime } from '../time';

type Version = WorkerSchemas['WorkerVersion'];

interface ListOptions extends GlobalOptions {
  limit: number;
}

interface RollbackOptions extends GlobalOptions {
  to?: string;
  message?: string;
}

export function registerVersions(program: GantryCommand): void {
  program
    .command('versions')
    .description('List the versions of a worker, newest first')
    .argument('[worker]', 'Worker ID (default: the worker of this folder)')
    .option('--limit <count>', 'Maximum number of versions', parseCount, 20)
    .action(withSession<[string | undefined], ListOptions>(listVersions));
  program
    .command('rollback')
    .description('Roll back to an earlier version, and keep the later ones')
    .argument('[worker]', 'Worker ID (default: the worker of this folder)')
    .option('--to <version>', 'Version number or SHA (default: the previous version)')
    .option('-m, --message <text>', 'Message for the version history')
    .action(withSession<[string | undefined], RollbackOptions>(rollbackWorker));
}

const loadVersions = (gantry: Gantry, workerId: string) =>
  paginate(gantry.worker, '/api/workers/{worker_id}/versions', { params: { path: { worker_id: workerId } } });

async function listVersions(session: Session, id: string | undefined, { limit }: ListOptions): Promise<void> {
  const gantry = session.gantry();
  const versions = await collectItems(loadVersions(gantry, await resolveWorkerId(session, gantry, id)), limit);
  printTable(session.output, versions, ['', 'version', 'sha', 'created', 'by', 'message'], (one) => [
    one.current ? green('*') : '',
    ...[one.version, one.sha.slice(0, 8), formatTime(one.created_at), one.author, one.message],
  ]);
}

async function rollbackWorker(
  session: Session,
  id: string | undefined,
  { to, message }: RollbackOptions,
): Promise<void> {
  const gantry = session.gantry();
  const workerId = await resolveWorkerId(session, gantry, id);
  const target = await findVersion(gantry, workerId, to);
  await session.prompts.confirm(`Roll back ${workerId} to version ${target.version}?`);
  const worker = await unwrap(
    gantry.worker.POST('/api/workers/{worker_id}/rollback/{sha}', {
      params: {
        path: { worker_id: workerId, sha: target.sha },
        header: { 'Idempotency-Key': createIdempotencyKey() },
      },
      body: message === undefined ? {} : { message },
    }),
  );
  if (id === undefined) await updateDeployedSha(session, gantry, worker.sha);
  session.output.print(
    worker,
    () => text`${bold(worker.id)} is now at version ${worker.version}, identical to version ${target.version}`,
  );
}

/** @param versionArgument a number, or the beginning of a sha; absent: the newest that differs from the current one */
async function findVersion(gantry: Gantry, workerId: string, versionArgument: string | undefined): Promise<Version> {
  let current: Version | undefined;
  for await (const version of loadVersions(gantry, workerId)) {
    if (version.current) current = version;
    const isMatch =
      versionArgument === undefined
        ? current !== undefined && version.sha !== current.sha
        : String(version.version) === versionArgument ||
          (versionArgument.length >= 7 && version.sha.startsWith(versionArgument));
    if (isMatch) return version;
  }
  const what = versionArgument === undefined ? 'earlier version' : `version ${versionArgument}`;
  throw new CommandError(`${workerId} has no ${what}`, EXIT.failed, `See: gantry versions ${workerId}`);
}
