/** A run of either surface, as the list shows it. */
import { getRunStatusDisplay, type RunStatusDetails, toRunStatusDetails } from '../../runs/run-status';
import { isRunFinished } from '../../runs/worker-runs';
import type { RunItem, WorkerRunItem } from '../../shell/api';
import { runPath, workerRunPath } from '../../shell/paths';
import type { Surface, Trigger } from './runs-filter';

export interface RunRow {
  /** Unique over both surfaces. */
  key: string;
  surface: Surface;
  id: string;
  /** The worker or the automation. */
  subjectId: string;
  shown: RunStatusDetails;
  isOver: boolean;
  trigger: Trigger;
  /** User or token; null where the API does not return it. */
  createdBy: string | null;
  version: number | null;
  /** Epoch milliseconds. */
  createdAt: number;
  startedAt: number | null;
  durationMs: number | null;
  costUsd: number | null;
  error: string | null;
  to: string;
}

const parseTime = (at: string | null): number | null => (at === null ? null : Date.parse(at));

export const toWorkerRunRow = (run: WorkerRunItem): RunRow => ({
  key: `worker ${run.id}`,
  surface: 'worker',
  id: run.id,
  subjectId: run.worker_id,
  shown: toRunStatusDetails(run),
  isOver: isRunFinished(run),
  trigger: run.trigger,
  createdBy: run.created_by,
  version: run.worker_version,
  createdAt: Date.parse(run.created_at),
  startedAt: parseTime(run.started_at),
  durationMs: run.duration_ms,
  costUsd: run.total_cost_usd,
  error: run.error,
  to: workerRunPath(run.id),
});

export const toAutomationRunRow = (run: RunItem): RunRow => ({
  key: `automation ${run.runId}`,
  surface: 'automation',
  id: run.runId,
  subjectId: run.automationId,
  shown: { status: run.status, error: run.error },
  isOver: run.completedAt !== null,
  trigger: run.trigger,
  createdBy: null,
  version: run.version,
  createdAt: run.createdAt,
  startedAt: run.startedAt,
  durationMs: run.durationMs,
  costUsd: null,
  error: run.error && run.error.code !== 'cancelled' ? run.error.message : null,
  to: runPath(run.automationId, run.runId),
});

export const getRunStatusLabel = (row: RunRow): string => getRunStatusDisplay(row.shown).word;
