import { type Call, type Operations, ok, respondWith, respondWithCountedPage } from '@gantry/http';
import { getVisibleWorker } from '../workers/worker-repository';
import { evaluationToApi, resultToApi } from './evaluation';
import type { EvaluationDeps } from './evaluation-deps';
import { getEvaluation, listEvaluations } from './evaluation-repository';
import { loadEvaluationTable } from './evaluation-table';
import { listResults } from './result-repository';
import { startEvaluation } from './start-evaluation';
import { stopEvaluation } from './stop-evaluation';

type WorkerRequest = Pick<Call<{ worker_id: string }>, 'caller' | 'path'>;

export function createEvaluationOperations(deps: EvaluationDeps): Operations<'worker'> {
  const { prisma, pool } = deps;
  const getRequestedWorker = ({ caller, path }: WorkerRequest) => getVisibleWorker(prisma, caller, path.worker_id);
  const getVisibleEvaluation = async (call: WorkerRequest, id: string) =>
    evaluationToApi(await getEvaluation(pool, await getRequestedWorker(call), id), call.path.worker_id);
  return {
    listEvaluations: async (call) => {
      const { evaluations, total } = await listEvaluations(pool, await getRequestedWorker(call), call.query);
      return respondWithCountedPage(call, evaluations, total, (one) => evaluationToApi(one, call.path.worker_id));
    },
    startEvaluation: {
      create: async (call) => {
        const { worker_id: workerId } = call.path;
        return respondWith(
          202,
          evaluationToApi(await startEvaluation(deps, call, workerId, call.body ?? {}), workerId),
        );
      },
      assertVisible: getVisibleEvaluation,
    },
    getEvaluationTable: async (call) =>
      ok(await loadEvaluationTable(deps, await getRequestedWorker(call), call.query.versions)),
    getEvaluation: async (call) => {
      const id = call.path.evaluation_id;
      const shown = await getVisibleEvaluation(call, id);
      return ok({ ...shown, results: (await listResults(pool, id)).map(resultToApi) });
    },
    stopEvaluation: async (call) => {
      const { worker_id: workerId, evaluation_id: id } = call.path;
      return ok(evaluationToApi(await stopEvaluation(deps, call, workerId, id), workerId));
    },
  };
}
