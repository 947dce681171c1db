/** Queries of examples and evaluations of workers. */
import { useMutation } from '@tanstack/react-query';
import { api, type CheckInput } from '../shell/api';
import { useInvalidateQueries } from '../shell/use-invalidate-queries';
import { useWorkspaceQuery } from '../shell/use-workspace-query';

type WorkspaceId = string | undefined;

const evaluationKeys = {
  all: (workspaceId: WorkspaceId) => ['evaluations', workspaceId] as const,
  examples: (workspaceId: WorkspaceId, workerId: string) => ['evaluations', workspaceId, workerId, 'examples'] as const,
  list: (workspaceId: WorkspaceId, workerId: string) => ['evaluations', workspaceId, workerId, 'list'] as const,
  table: (workspaceId: WorkspaceId, workerId: string) => ['evaluations', workspaceId, workerId, 'table'] as const,
  one: (workspaceId: WorkspaceId, workerId: string, id: string) =>
    ['evaluations', workspaceId, workerId, 'one', id] as const,
};

/** Maximum number of examples of a worker. */
const EXAMPLES_MAX = 200;
/** Columns of the table: more are too many to read. */
const VERSIONS_SHOWN = 20;

const toWorkerPathParams = (workerId: string) => ({ worker_id: workerId });

export function useExamples(workerId: string) {
  const params = { path: toWorkerPathParams(workerId), query: { limit: EXAMPLES_MAX } };
  return useWorkspaceQuery(
    (workspaceId) => evaluationKeys.examples(workspaceId, workerId),
    () => api.worker.GET('/api/workers/{worker_id}/examples', { params }),
  );
}

/** Lists the newest evaluations. */
export function useEvaluations(workerId: string) {
  const params = { path: toWorkerPathParams(workerId), query: { limit: 10 } };
  return useWorkspaceQuery(
    (workspaceId) => evaluationKeys.list(workspaceId, workerId),
    () => api.worker.GET('/api/workers/{worker_id}/evaluations', { params }),
  );
}

export function useEvaluationTable(workerId: string) {
  const params = { path: toWorkerPathParams(workerId), query: { versions: VERSIONS_SHOWN } };
  return useWorkspaceQuery(
    (workspaceId) => evaluationKeys.table(workspaceId, workerId),
    () => api.worker.GET('/api/workers/{worker_id}/evaluations/table', { params }),
  );
}

export function useEvaluation(workerId: string, evaluationId: string) {
  const params = { path: { ...toWorkerPathParams(workerId), evaluation_id: evaluationId } };
  return useWorkspaceQuery(
    (workspaceId) => evaluationKeys.one(workspaceId, workerId, evaluationId),
    () => api.worker.GET('/api/workers/{worker_id}/evaluations/{evaluation_id}', { params }),
  );
}

/** Mutates evaluations or examples, then invalidates all queries of evaluations. */
function useEvaluationMutation<Input, Output>(mutationFn: (input: Input) => Promise<Output>) {
  return useMutation({ mutationFn, onSettled: useInvalidateQueries(evaluationKeys.all) });
}

/** Body of a new or changed example. Without `inputs`, the run that it names has them. */
export interface ExampleFields {
  name: string;
  description: string;
  inputs?: Record<string, unknown>;
  run_id?: string;
  checks?: CheckInput[];
  max_duration_seconds: number | null;
  max_cost_usd: number | null;
}

export const useCreateExample = (workerId: string) =>
  useEvaluationMutation((body: ExampleFields) => {
    const params = { path: toWorkerPathParams(workerId) };
    return api.worker.POST('/api/workers/{worker_id}/examples', { params, body });
  });

type ExampleChange = Partial<Omit<ExampleFields, 'run_id'>> & { enabled?: boolean };

export const useUpdateExample = (workerId: string) =>
  useEvaluationMutation(({ id, ...body }: ExampleChange & { id: string }) => {
    const params = { path: { ...toWorkerPathParams(workerId), example_id: id } };
    return api.worker.PATCH('/api/workers/{worker_id}/examples/{example_id}', { params, body });
  });

export const useDeleteExample = (workerId: string) =>
  useEvaluationMutation((id: string) => {
    const params = { path: { ...toWorkerPathParams(workerId), example_id: id } };
    return api.worker.DELETE('/api/workers/{worker_id}/examples/{example_id}', { params });
  });

/** @param sha of the version; the current one without */
export const useStartEvaluation = (workerId: string) =>
  useEvaluationMutation((sha: string | undefined) => {
    const body = sha === undefined ? {} : { sha };
    const params = { path: toWorkerPathParams(workerId) };
    return api.worker.POST('/api/workers/{worker_id}/evaluations', { params, body });
  });

export const useStopEvaluation = (workerId: string) =>
  useEvaluationMutation((id: string) => {
    const params = { path: { ...toWorkerPathParams(workerId), evaluation_id: id } };
    return api.worker.POST('/api/workers/{worker_id}/evaluations/{evaluation_id}/stop', { params });
  });
