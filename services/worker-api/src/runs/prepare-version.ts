/**
 * Lets executors install the packages of a worker's version and import its code before its first run. Code that an
 * agent wrote waits for its approval, since package names reach the package index.
 */
import {
  type EventHandlerFor,
  encodeStandby,
  listen,
  type PrepareRequest,
  requestPreparation,
  runSubjects,
  type workerChanged,
} from '@gantry/events';
import { afterCommit, type Sql } from '@gantry/postgres';
import { loadAnnouncedLocks, openInstallation, type RunSpec } from '@gantry/run-engine';
import { z } from 'zod';
import type { Worker } from '../generated/prisma/client';
import { findPreparedWorker, listStandbyWorkers, type PreparedWorker } from '../workers/standby-workers';
import { isUnapproved } from './admit-code';
import type { RunDeps } from './run-deps';
import type { Runnable } from './runnable';

type PrepareDeps = Pick<RunDeps, 'bus' | 'objects' | 'runnables'>;

/** Leaves time for an executor to import other versions first. */
const URL_SECONDS = 600;

/** Announces the current version of a worker. If it is not active, its processes end. */
export async function prepareVersion(
  deps: PrepareDeps,
  sql: Sql,
  workerKey: Pick<Worker, 'uid' | 'workspaceId'>,
): Promise<void> {
  const worker = await findPreparedWorker(sql, workerKey);
  const subject = { workspaceId: workerKey.workspaceId, subjectId: workerKey.uid };
  const request = worker ? await describePreparation(deps, sql, worker) : { dependencies: [], subject };
  const installation =
    worker && request.dependencies.length ? await openVersionInstallation(deps, sql, worker) : undefined;
  // An executor must not report an installation before its row can be read.
  afterCommit(sql, () => requestPreparation(deps.bus, { ...request, ...installation }));
}

async function openVersionInstallation(deps: PrepareDeps, sql: Sql, worker: PreparedWorker) {
  const { spec } = await deps.runnables.get(sql, worker.uid, worker.currentVersion);
  return openInstallation(sql, 'worker', worker.workspaceId, spec);
}

export const createPrepareHandler = (deps: PrepareDeps): EventHandlerFor<typeof workerChanged> => ({
  name: 'dependencies',
  wants: ({ change, version }) => change !== 'updated' || version !== undefined,
  handle: (tx, { workspaceId, data: { workerUid: uid } }) => prepareVersion(deps, tx, { uid, workspaceId }),
});

/** Serves executors the versions to keep imported: those of workers that start often and automatically. */
export function serveStandbyVersions(deps: PrepareDeps & Pick<RunDeps, 'pool' | 'now' | 'log'>): { stop(): void } {
  const subscription = listen(
    deps.bus,
    runSubjects.standby('worker', '*'),
    z.unknown(),
    async (_, message) => {
      const versions: PrepareRequest[] = [];
      for (const worker of await listStandbyWorkers(deps.pool, deps.now())) {
        const version = await describePreparation(deps, deps.pool, worker);
        if (version.subject?.program) versions.push(version);
      }
      message.respond(encodeStandby(versions));
    },
    { queue: 'worker-api', log: deps.log },
  );
  return { stop: () => subscription.unsubscribe() };
}

async function describePreparation(deps: PrepareDeps, sql: Sql, worker: PreparedWorker): Promise<PrepareRequest> {
  const subject = { workspaceId: worker.workspaceId, subjectId: worker.uid };
  if (worker.deletedAt || worker.status === 'archived') return { dependencies: [], subject };
  const runnable = await deps.runnables.get(sql, worker.uid, worker.currentVersion);
  if (await isUnapproved(sql, worker.uid, runnable)) return { dependencies: [], subject };
  const { spec } = runnable;
  const { dependencies } = spec;
  const isPreloaded = worker.status === 'active' && canPreload(runnable);
  return {
    dependencies,
    ...(await loadAnnouncedLocks(sql, worker.workspaceId, spec)),
    subject: isPreloaded ? { ...subject, program: await describeProgram(deps, spec) } : subject,
  };
}

/** Excludes agents, which have no module, contexts, which are mounted per run, and runs that need an approval each. */
const canPreload = ({ spec, definition }: Runnable): boolean =>
  !spec.agent && !definition.contexts.length && !definition.approvals.required;

async function describeProgram({ objects }: PrepareDeps, spec: RunSpec) {
  const { code, entrypoint, limits, network, isolation, fresh, secrets: secretNames } = spec;
  const url = await objects.presignGet(code.key, { expiresSeconds: URL_SECONDS, audience: 'internal' });
  return {
    entrypoint,
    limits,
    network,
    isolation,
    secretNames,
    code: { digest: code.digest, size: code.size, url },
    ...(fresh && { fresh }),
  };
}
