/** Starts a repair when a run of a worker with `on_failure: propose_repair` fails finally. */
import { createHash } from 'node:crypto';
import { type EventHandlerFor, newId, type RunErrorCode, type runFinished } from '@gantry/events';
import { SYSTEM } from '@gantry/http';
import { findRun, type Run } from '@gantry/run-engine';
import { lockWorkerTrials } from '../candidates/candidate-repository';
import { EXTERNAL_ERROR_CODES } from '../rehearsals/run-outcome';
import { findWorkerByUid } from '../workers/worker-repository';
import type { RepairDeps } from './repair-deps';
import { findOpenRepair, loadRepairCounts } from './repair-repository';
import { createRepair } from './repair-service';

/** Errors that no change of the code fixes. */
const UNREPAIRABLE_ERRORS: ReadonlySet<RunErrorCode | null> = new Set<RunErrorCode | null>([
  ...EXTERNAL_ERROR_CODES,
  ...(['approval_rejected', 'cancelled', 'invalid_inputs'] as const),
]);
/** Limits automatic repairs of one worker. */
const REPAIRS_PER_DAY_MAX = 10;

export function createFailedRunHandler(deps: RepairDeps): EventHandlerFor<typeof runFinished> {
  const { prisma, pool, runnables, models } = deps;

  /** Returns null unless the current version of an active worker enables repairs. */
  async function findRepairableRun(workspaceId: string, runId: string) {
    const run = await findRun(pool, workspaceId, runId);
    if (run?.kind !== 'run' || run.version === null) return null;
    const worker = await findWorkerByUid(prisma, workspaceId, run.subjectId);
    if (worker?.status !== 'active' || worker.currentVersion !== run.version) return null;
    const { definition } = await runnables.get(pool, worker.uid, run.version);
    return definition.on_failure === 'propose_repair' ? { run, worker } : null;
  }

  return {
    name: 'repair-on-failure',
    wants: async ({ source, status, errorCode, runId }, workspaceId) => {
      const isFailure = status === 'failed' || status === 'timed_out';
      if (source !== 'worker' || !isFailure || UNREPAIRABLE_ERRORS.has(errorCode)) return false;
      const { list } = await models.forWorkspace(workspaceId);
      return list.length > 0 && (await findRepairableRun(workspaceId, runId)) !== null;
    },
    handle: async (tx, { workspaceId, data }) => {
      const found = await findRepairableRun(workspaceId, data.runId);
      if (!found) return;
      const { run, worker } = found;
      await lockWorkerTrials(tx, worker.uid);
      if (await findOpenRepair(tx, worker.uid)) return;
      const fingerprint = computeFingerprint(run);
      const { today, isKnown } = await loadRepairCounts(tx, worker.uid, fingerprint);
      if (isKnown || today >= REPAIRS_PER_DAY_MAX) return;
      await createRepair(tx, SYSTEM, {
        id: newId('rpr_'),
        run,
        worker,
        askedModel: '',
        instructions: null,
        fingerprint,
        createdBy: null,
        createdByLabel: null,
        tokenId: null,
      });
    },
  };
}

/** Hashes the version and the error, without digits, since ids, counts and times differ each time. */
function computeFingerprint({ version, error }: Run): string {
  const message = error?.message.replaceAll(/\d/g, '') ?? '';
  const text = JSON.stringify([version, error?.code ?? null, error?.type ?? null, message]);
  return createHash('sha256').update(text).digest('hex');
}
