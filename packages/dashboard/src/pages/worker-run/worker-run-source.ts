import { unwrap } from '@gantry/api-client';
import { connectEvents } from '../../runs/connect-events';
import type { RunSource } from '../../runs/use-run';
import { type WorkerRun, workerApi, workerBaseUrl } from '../../shell/api';
import { workerRunUrls } from '../../shell/paths';

/** The statuses of a run that has not ended. */
const UNDER_WAY: WorkerRun['status'][] = ['queued', 'running', 'pending_approval'];

export const isOver = ({ status }: Pick<WorkerRun, 'status'>): boolean => !UNDER_WAY.includes(status);

export const workerRunKey = (runId: string) => ['worker-run', runId] as const;

export const readRun = async (runId: string, headers = {}): Promise<WorkerRun> =>
  unwrap((await workerApi()).GET('/api/runs/{run_id}', { params: { path: { run_id: runId } }, headers }));

export const workerRunSource = (runId: string): RunSource<WorkerRun> => ({
  queryKey: workerRunKey(runId),
  endsWith: workerRunKey(runId),
  get: () => readRun(runId),
  isOver,
  connect: async (lastEventId, signal) =>
    connectEvents(workerRunUrls(await workerBaseUrl()).events(runId), lastEventId, signal),
});
