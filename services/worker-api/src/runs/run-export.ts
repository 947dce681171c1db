/** The history as a file: as many rows as there are, a batch of them in memory at a time, however slowly it is read. */
import { type Operations, writeWithBackpressure } from '@gantry/http';
import { type ListedRun, listRunPage } from '@gantry/run-engine';
import { formatCsvLine } from '../audit/csv';
import { runSummaryToApi } from './run';
import type { RunDeps } from './run-deps';
import { toRunFilter } from './run-filter';

const BATCH = 1_000;

const COLUMNS = [
  'id',
  'worker_id',
  'worker_version',
  'status',
  'trigger',
  'attempt',
  'priority',
  'created_at',
  'started_at',
  'completed_at',
  'duration_ms',
  'total_cost_usd',
  'error_code',
  'error',
  'parent_run_id',
  'created_by',
] as const satisfies (keyof ReturnType<typeof runSummaryToApi>)[];

export function createExportOperations(deps: RunDeps): Operations<'worker'> {
  return {
    exportRuns: async ({ caller, query, res }) => {
      const { workspaceId } = caller;
      const filter = await toRunFilter(deps, caller, query);
      // Before the first byte: what fails now is still answered as an error.
      let page = await listRunPage(deps.pool, workspaceId, filter, { limit: BATCH });
      res.type('text/csv');
      res.set('Content-Disposition', 'attachment; filename="runs.csv"');
      res.write(formatCsvLine([...COLUMNS]));
      for (;;) {
        await writeWithBackpressure(res, page.runs.map(runToCsv).join(''));
        if (!page.next || res.destroyed) break;
        page = await listRunPage(deps.pool, workspaceId, filter, { limit: BATCH, before: page.next });
      }
      res.end();
    },
  };
}

export function runToCsv(run: ListedRun): string {
  const shown = runSummaryToApi(run);
  return formatCsvLine(
    COLUMNS.map((column) => {
      const value = shown[column];
      return value === null || typeof value === 'string' ? value : String(value);
    }),
  );
}
