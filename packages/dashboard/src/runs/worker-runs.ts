/** Queries of workers' runs. */
import { api, getWorkerBaseUrl, type WorkerRun } from '../shell/api';
import { openEventStream } from '../shell/open-event-stream';
import { buildWorkerRunUrls } from '../shell/paths';
import { useInvalidateQueries } from '../shell/use-invalidate-queries';
import type { RunSource } from './use-run';

/** The statuses of a run that has not ended. */
const ACTIVE_STATUSES: WorkerRun['status'][] = ['queued', 'running', 'pending_approval'];

export const isRunFinished = ({ status }: Pick<WorkerRun, 'status'>): boolean => !ACTIVE_STATUSES.includes(status);

export const workerRunKey = (workspaceId: string | undefined, runId: string) =>
  ['runs', workspaceId, 'worker', runId] as const;

/** Returns a function that invalidates all queries of runs. */
export const useInvalidateRuns = () => useInvalidateQueries((workspaceId) => ['runs', workspaceId]);

export const getWorkerRun = (runId: string, headers = {}): Promise<WorkerRun> =>
  api.worker.GET('/api/runs/{run_id}', { params: { path: { run_id: runId } }, headers });

export const buildWorkerRunSource = (workspaceId: string | undefined, runId: string): RunSource<WorkerRun> => ({
  queryKey: workerRunKey(workspaceId, runId),
  endsWith: ['runs', workspaceId],
  get: () => getWorkerRun(runId),
  isOver: isRunFinished,
  connect: async (lastEventId, signal) =>
    openEventStream(buildWorkerRunUrls(await getWorkerBaseUrl()).events(runId), lastEventId, signal),
});
