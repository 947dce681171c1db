import { type Answer, notFound, type Operations, ok, type Principal } from '@gantry/http';
import type { Run } from '@gantry/run-engine';
import type { Worker } from '../generated/prisma/client';
import { readTurnUsage } from '../models/model-call-repository';
import { ownerIdOf } from '../ownership';
import { runAndWorkerOf } from '../runs/run-of-request';
import { type Repair, repairToApi } from './repair';
import type { RepairDeps } from './repair-deps';
import { findRepair, findRepairOfRun, listMessages } from './repair-repository';
import { beginRepair, stopRepair } from './repair-service';

export function repairOperations(deps: RepairDeps): Operations<'worker'> {
  const { pool } = deps;

  /** Gets the latest repair of a run that the caller sees. @throws AppError 404 */
  async function find(caller: Principal, runId: string): Promise<{ run: Run; worker: Worker; repair: Repair }> {
    const { run, worker } = await runAndWorkerOf(deps, caller, runId);
    const repair = await findRepairOfRun(pool, caller.workspaceId, run.id);
    if (!repair) throw notFound('repair', runId, 'of this run');
    return { run, worker, repair };
  }

  async function describe({ id }: Pick<Repair, 'id'>, { id: workerId }: Worker) {
    const [repair, messages, usage] = await Promise.all([
      findRepair(pool, id),
      listMessages(pool, id),
      readTurnUsage(pool, id),
    ]);
    if (!repair) throw notFound('repair', id);
    return repairToApi(repair, workerId, messages, usage);
  }

  const accepted = (body: unknown): Answer => ({ status: 202, body });

  return {
    getRepair: async ({ caller, path }) => {
      const { repair, worker } = await find(caller, path.run_id);
      return ok(await describe(repair, worker));
    },
    repairRun: {
      make: async ({ caller, actor, made, path, body }) => {
        const { run, worker } = await runAndWorkerOf(deps, caller, path.run_id);
        const id = await beginRepair(deps, {
          ...{ run, worker, actor, made, model: body?.model, instructions: body?.instructions?.trim() || null },
          ...{ createdBy: ownerIdOf(caller), tokenId: caller.tokenId },
        });
        return accepted(await describe({ id }, worker));
      },
      see: ({ caller, path }) => runAndWorkerOf(deps, caller, path.run_id),
      answer: async ({ caller, path }, id) => {
        const { worker } = await runAndWorkerOf(deps, caller, path.run_id);
        return accepted(await describe({ id }, worker));
      },
    },
    stopRepair: async ({ caller, actor, path }) => {
      const { repair, worker } = await find(caller, path.run_id);
      await stopRepair(deps, repair, worker.id, actor);
      return ok(await describe(repair, worker));
    },
  };
}
