/** Bulk operations on runs of both surfaces. */
import { ApiError } from '@gantry/sdk';
import { api } from '../../shell/api';
import { isUnreachable } from '../../shell/is-unreachable';
import type { RunRow } from './run-row';

export interface BulkResult {
  changed: number;
  /** The reasons, one for each run that could not be changed. */
  refused: string[];
}

const CONCURRENCY = 4;

export async function cancelRuns(rows: RunRow[]): Promise<BulkResult> {
  const worker = await changeWorkerRuns(rows, (ids) => api.worker.POST('/api/runs/bulk/cancel', { body: { ids } }));
  const automation = await changeAutomationRuns(rows, ({ id }) =>
    api.automation.POST('/api/runs/{runId}/cancel', { params: { path: { runId: id } } }),
  );
  return mergeResults(worker, automation);
}

/** Starts the runs again with the current code. */
export async function replayRuns(rows: RunRow[]): Promise<BulkResult> {
  const worker = await changeWorkerRuns(rows, (ids) => api.worker.POST('/api/runs/bulk/replay', { body: { ids } }));
  const automation = await changeAutomationRuns(rows, async ({ id, subjectId }) => {
    const { inputs } = await api.automation.GET('/api/runs/{runId}', { params: { path: { runId: id } } });
    const params = { path: { automationId: subjectId } };
    await api.automation.POST('/api/automations/{automationId}/run', { params, body: { inputs, wait: 0 } });
  });
  return mergeResults(worker, automation);
}

async function changeWorkerRuns(
  rows: RunRow[],
  request: (ids: string[]) => Promise<{ changed: number; errors: { detail: string }[] }>,
): Promise<BulkResult> {
  const ids = rows.filter(({ surface }) => surface === 'worker').map(({ id }) => id);
  if (ids.length === 0) return { changed: 0, refused: [] };
  const { changed, errors } = await request(ids);
  return { changed, refused: errors.map(({ detail }) => detail) };
}

async function changeAutomationRuns(rows: RunRow[], request: (row: RunRow) => Promise<unknown>): Promise<BulkResult> {
  const remainingRows = rows.filter(({ surface }) => surface === 'automation');
  const result: BulkResult = { changed: 0, refused: [] };
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      for (let row = remainingRows.shift(); row; row = remainingRows.shift()) {
        try {
          await request(row);
          result.changed++;
        } catch (error) {
          if (!(error instanceof ApiError) || isUnreachable(error)) throw error;
          result.refused.push(error.message);
        }
      }
    }),
  );
  return result;
}

const mergeResults = (one: BulkResult, other: BulkResult): BulkResult => ({
  changed: one.changed + other.changed,
  refused: [...one.refused, ...other.refused],
});
