import { notFound } from '@gantry/errors';
import { type Operations, ok, respondWith } from '@gantry/http';
import type { Principal } from '@gantry/limits';
import type { Run } from '@gantry/run-engine';
import type { Worker } from '../generated/prisma/client';
import { loadTurnUsage } from '../models/model-call-repository';
import { getRunAndWorker } from '../runs/requested-run';
import { type Repair, repairToApi } from './repair';
import type { RepairDeps } from './repair-deps';
import { findRepair, findRunRepair, listMessages } from './repair-repository';
import { startRepair, stopRepair } from './repair-service';

export function createRepairOperations(deps: RepairDeps): Operations<'worker'> {
  const { pool } = deps;

  /** Gets the latest repair of a run that the caller sees. @throws AppError 404 */
  async function getRepair(caller: Principal, runId: string): Promise<{ run: Run; worker: Worker; repair: Repair }> {
    const { run, worker } = await getRunAndWorker(deps, caller, runId);
    const repair = await findRunRepair(pool, caller.workspaceId, run.id);
    if (!repair) throw notFound('repair of run', runId);
    return { run, worker, repair };
  }

  async function loadRepairDetail(id: string, { id: workerId }: Worker) {
    const [repair, messages, usage] = await Promise.all([
      findRepair(pool, id),
      listMessages(pool, id),
      loadTurnUsage(pool, id),
    ]);
    if (!repair) throw notFound('repair', id);
    return repairToApi(repair, workerId, messages, usage);
  }

  return {
    getRepair: async ({ caller, path }) => {
      const { repair, worker } = await getRepair(caller, path.run_id);
      return ok(await loadRepairDetail(repair.id, worker));
    },
    repairRun: {
      create: async (call) => {
        const subject = await getRunAndWorker(deps, call.caller, call.path.run_id);
        const id = await startRepair(deps, call, subject, call.body ?? {});
        return respondWith(202, await loadRepairDetail(id, subject.worker));
      },
      assertVisible: ({ caller, path }) => getRunAndWorker(deps, caller, path.run_id),
      answer: async ({ caller, path }, id) => {
        const { worker } = await getRunAndWorker(deps, caller, path.run_id);
        return respondWith(202, await loadRepairDetail(id, worker));
      },
    },
    stopRepair: async ({ caller, actor, path }) => {
      const { repair, worker } = await getRepair(caller, path.run_id);
      await stopRepair(deps, repair, worker.id, actor);
      return ok(await loadRepairDetail(repair.id, worker));
    },
  };
}
