/** Exports the filtered runs as CSV files, one for each surface. */
import { buildCsvFile } from '../../outputs/csv';
import { TRIGGER_LABELS } from '../../runs/trigger-labels';
import { api } from '../../shell/api';
import { downloadFile } from '../../ui/download-file';
import { type Cursor, matchesSurface, runLoaders, toWorkerQuery } from './load-runs';
import { getRunStatusLabel, type RunRow } from './run-row';
import type { RunsFilter } from './runs-filter';

const PAGE_SIZE = 200;
/** The automation API has no export, so its runs are loaded page by page. */
const ROWS_MAX = 20_000;

export async function exportRuns(filter: RunsFilter): Promise<void> {
  if (matchesSurface('worker', filter)) downloadFile('worker-runs.csv', await exportWorkerRuns(filter));
  if (!matchesSurface('automation', filter)) return;
  const rows = await loadAutomationRuns(filter);
  if (rows.length > 0) downloadFile('automation-runs.csv', buildCsvFile(toExportTable(rows)));
}

const exportWorkerRuns = (filter: RunsFilter): Promise<Blob> =>
  api.worker.GET('/api/runs/export.csv', { params: { query: toWorkerQuery(filter) }, parseAs: 'blob' });

async function loadAutomationRuns(filter: RunsFilter): Promise<RunRow[]> {
  const rows: RunRow[] = [];
  let cursor: Cursor | null = null;
  do {
    const page = await runLoaders.automation(filter, cursor, PAGE_SIZE);
    rows.push(...page.rows);
    cursor = page.next;
  } while (cursor !== null && rows.length < ROWS_MAX);
  return rows;
}

const formatIsoTime = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

const toExportTable = (rows: RunRow[]) => ({
  columns: ['id', 'automation_id', 'version', 'status', 'trigger', 'created_at', 'started_at', 'duration_ms', 'error'],
  rows: rows.map((row) => [
    ...[row.id, row.subjectId, row.version, getRunStatusLabel(row), TRIGGER_LABELS[row.trigger]],
    ...[formatIsoTime(row.createdAt), formatIsoTime(row.startedAt), row.durationMs, row.error],
  ]),
});
