/**
 * Lets executors install the packages of a worker's version, and import its code, before a person waits for its first run. Code that
 * an agent wrote waits for its approval, since names of packages reach the package index.
 */
import {
  encodeStandby,
  listen,
  type PrepareRequest,
  type ReactionTo,
  requestPreparation,
  runSubjects,
  type workerChanged,
} from '@gantry/events';
import type { Sql } from '@gantry/postgres';
import type { RunSpec } from '@gantry/run-engine';
import { z } from 'zod';
import type { Worker } from '../generated/prisma/client';
import { findPreparedWorker, listStandbyWorkers, type PreparedWorker } from '../workers/standby-workers';
import { isUnapproved } from './admit-code';
import type { RunDeps } from './run-deps';
import type { Runnable } from './runnable';

type PrepareDeps = Pick<RunDeps, 'bus' | 'objects' | 'runnables'>;

/** An executor may import other announcements first. */
const URL_SECONDS = 600;

/** Announces the worker as it is now. Where it runs no more, its processes end. */
export async function prepareVersion(
  deps: PrepareDeps,
  sql: Sql,
  key: Pick<Worker, 'uid' | 'workspaceId'>,
): Promise<void> {
  const worker = await findPreparedWorker(sql, key);
  const subject = { workspaceId: key.workspaceId, subjectId: key.uid };
  requestPreparation(deps.bus, worker ? await describePreparation(deps, sql, worker) : { dependencies: [], subject });
}

export const prepareChangedVersion = (deps: PrepareDeps): ReactionTo<typeof workerChanged> => ({
  name: 'dependencies',
  wants: ({ change, version }) => change !== 'updated' || version !== undefined,
  handle: (tx, { workspaceId, data: { workerUid: uid } }) => prepareVersion(deps, tx, { uid, workspaceId }),
});

/** Tells executors which versions to have imported at all times: those of workers that start by themselves, and often. */
export function serveStandby(deps: PrepareDeps & Pick<RunDeps, 'pool' | 'now' | 'log'>): { stop(): void } {
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
  const isImported = worker.status === 'active' && canBeImported(runnable);
  return {
    dependencies,
    subject: isImported ? { ...subject, program: await describeProgram(deps, spec) } : subject,
  };
}

/** Agents have no module, contexts are mounted for each run, and where a person decides on each run none of it happens before. */
const canBeImported = ({ spec, definition }: Runnable): boolean =>
  !spec.agent && !definition.contexts.length && !definition.approvals.required;

async function describeProgram({ objects }: PrepareDeps, spec: RunSpec) {
  const { code, entrypoint, limits, network, isolation, fresh, secrets: secretNames } = spec;
  const url = await objects.presignGet(code.key, { expiresSeconds: URL_SECONDS, audience: 'internal' });
  return {
    ...{ entrypoint, limits, network, isolation, secretNames },
    code: { digest: code.digest, size: code.size, url },
    ...(fresh && { fresh }),
  };
}
