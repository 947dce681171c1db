/** Bulk operations on runs of both surfaces. */
import { ApiError, unwrap } from '@gantry/sdk';
import { api, workerApi } from '../../shell/api';
import type { RunRow } from './run-row';

export interface BulkResult {
  changed: number;
  /** The reasons, one for each run that could not be changed. */
  refused: string[];
}

const AT_ONCE = 4;

export async function cancelAll(rows: RunRow[]): Promise<BulkResult> {
  const worker = await onWorkers(rows, async (ids) =>
    unwrap((await workerApi()).POST('/api/runs/bulk/cancel', { body: { ids } })),
  );
  const automation = await oneByOne(rows, ({ id }) =>
    unwrap(api.POST('/api/runs/{runId}/cancel', { params: { path: { runId: id } } })),
  );
  return sum(worker, automation);
}

/** Starts the runs again with the current code. */
export async function replayAll(rows: RunRow[]): Promise<BulkResult> {
  const worker = await onWorkers(rows, async (ids) =>
    unwrap((await workerApi()).POST('/api/runs/bulk/replay', { body: { ids } })),
  );
  const automation = await oneByOne(rows, async ({ id, subjectId }) => {
    const { inputs } = await unwrap(api.GET('/api/runs/{runId}', { params: { path: { runId: id } } }));
    const params = { path: { automationId: subjectId } };
    await unwrap(api.POST('/api/automations/{automationId}/run', { params, body: { inputs, wait: 0 } }));
  });
  return sum(worker, automation);
}

interface BulkAnswer {
  changed: number;
  errors: { detail: string }[];
}

async function onWorkers(rows: RunRow[], act: (ids: string[]) => Promise<BulkAnswer>): Promise<BulkResult> {
  const ids = rows.filter(({ surface }) => surface === 'worker').map(({ id }) => id);
  if (ids.length === 0) return { changed: 0, refused: [] };
  const { changed, errors } = await act(ids);
  return { changed, refused: errors.map(({ detail }) => detail) };
}

async function oneByOne(rows: RunRow[], act: (row: RunRow) => Promise<unknown>): Promise<BulkResult> {
  const left = rows.filter(({ surface }) => surface === 'automation');
  const result: BulkResult = { changed: 0, refused: [] };
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let row = left.shift(); row; row = left.shift()) {
        try {
          await act(row);
          result.changed++;
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          result.refused.push(error.message);
        }
      }
    }),
  );
  return result;
}

const sum = (one: BulkResult, other: BulkResult): BulkResult => ({
  changed: one.changed + other.changed,
  refused: [...one.refused, ...other.refused],
});
