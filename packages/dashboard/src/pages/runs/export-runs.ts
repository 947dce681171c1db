/** Exports the filtered runs as CSV files, one for each surface. */
import { unwrap } from '@gantry/sdk';
import { csvFile } from '../../outputs/csv';
import { TRIGGER_WORDS } from '../../runs/run-words';
import { workerApi } from '../../shell/api';
import { saveFile } from '../../ui/save-file';
import { type Cursor, isAsked, readRuns, workerQuery } from './read-runs';
import { type RunRow, wordOf } from './run-row';
import type { RunsFilter } from './runs-filter';

const PAGE_SIZE = 200;
/** The automation API has no export, so its runs are loaded page by page. */
const ROWS_MAX = 20_000;

export async function exportRuns(filter: RunsFilter): Promise<void> {
  if (isAsked('worker', filter)) saveFile('worker-runs.csv', await exportWorkerRuns(filter));
  if (!isAsked('automation', filter)) return;
  const rows = await readAllAutomationRuns(filter);
  if (rows.length > 0) saveFile('automation-runs.csv', csvFile(tableOf(rows)));
}

const exportWorkerRuns = async (filter: RunsFilter): Promise<Blob> =>
  unwrap((await workerApi()).GET('/api/runs/export.csv', { params: { query: workerQuery(filter) }, parseAs: 'blob' }));

async function readAllAutomationRuns(filter: RunsFilter): Promise<RunRow[]> {
  const rows: RunRow[] = [];
  let cursor: Cursor | null = null;
  do {
    const page = await readRuns.automation(filter, cursor, PAGE_SIZE);
    rows.push(...page.rows);
    cursor = page.next;
  } while (cursor !== null && rows.length < ROWS_MAX);
  return rows;
}

const isoTime = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

const tableOf = (rows: RunRow[]) => ({
  columns: ['id', 'automation_id', 'version', 'status', 'trigger', 'created_at', 'started_at', 'duration_ms', 'error'],
  rows: rows.map((row) => [
    ...[row.id, row.subjectId, row.version, wordOf(row), TRIGGER_WORDS[row.trigger]],
    ...[isoTime(row.createdAt), isoTime(row.startedAt), row.durationMs, row.error],
  ]),
});
