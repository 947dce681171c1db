/** Writes executors' reports, idempotently and in any order; then notifies waiters. */
import type { RunError, RunEvent, RunEventBatch, RunSource } from '@gantry/events';
import { createRowSet, createUnnamedStatement, pollSoon } from '@gantry/postgres';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { CANCELLED } from '../ending/end-run';
import { settleRuns } from '../ending/settle-runs';
import { requeueRuns } from '../queue/requeue-runs';
import type { Run } from '../run';
import { buildServiceClosingEvents, getServiceSeqBase, toRows } from '../run-events';
import { type OnSuspended, type SuspensionReport, suspendRun } from '../waiting/suspend-run';
import {
  type ComputeCostUsd,
  findAttemptResult,
  findSuspension,
  hasStarted,
  isReturnedToQueue,
  joinCompleteLogs,
} from './attempt-reports';
import { type OnRefused, publishRefusedRequests } from './refused-requests';
import { isTransient, type ReceivedBatch } from './report-queue';
import type { RequestLimiter } from './request-limiter';

/** Attempts with a run that can't be suspended, before it fails. */
const SUSPEND_TRIES = 4;
const SUSPEND_RETRY_MS = 500;

const NOT_SUSPENDED: RunError = { code: 'sandbox', message: 'the platform failed to suspend this run' };

export interface SettledRun {
  /** It has ended, or is suspended until its next try. */
  run: Run;
  /** Where one message told the whole run, its logs, so that they need not be read back. */
  logs: string | undefined;
}

export interface ReportDeps {
  pool: Pool;
  source: RunSource;
  log: Logger;
  onSettled: (settled: SettledRun) => void;
  onReturned: () => void;
  /**
   * It had ended, or was suspended, before: perhaps by a commit whose answer was lost, so that no reader was notified.
   */
  onRepeated: (runId: string) => void;
  onSuspended: OnSuspended | undefined;
  onRefused: OnRefused | undefined;
  /** A run has been suspended; its process is gone, and what it waits for may be queued. */
  onWaiting: (run: Run) => void;
  computeCostUsd: ComputeCostUsd;
  boundRequests: RequestLimiter;
}

/** All of them, and acknowledges them after their commit, once who waits for it was told. */
export async function writeReports(deps: ReportDeps, received: ReceivedBatch[]): Promise<void> {
  const { pool, source, computeCostUsd } = deps;
  const batches = received.map(({ batch }) => batch);
  const endings = batches.flatMap((batch) => findAttemptResult(batch, computeCostUsd) ?? []);
  const ending = new Set(endings.map(({ runId }) => runId));
  const started = batches.filter((batch) => !ending.has(batch.runId) && hasStarted(batch));
  await insertArtifacts(pool, batches);
  const limited = await deps.boundRequests(batches);
  const reports = limited.map((batch) => ({ ...batch, events: toRows(batch) }));
  const runs = await settleRuns(pool, source, reports, endings, started);
  if (runs.some(({ wakeAt }) => wakeAt)) pollSoon(pool);
  for (const batch of batches) {
    const suspension = findSuspension(batch, computeCostUsd);
    if (suspension) await applySuspension(deps, suspension);
  }
  // Bounded: 100 batches (BATCH_MAX of the queue).
  for (const run of runs)
    deps.onSettled({ run, logs: joinCompleteLogs(batches.filter(({ runId }) => runId === run.id)) });
  for (const { id } of runs) ending.delete(id);
  ending.forEach(deps.onRepeated);
  if (deps.onRefused) await publishRefusedRequests(pool, batches, deps.onRefused);
  setImmediate(() => {
    for (const { message } of received) message.ack();
  });
  await requeueReturnedRuns(deps, batches);
}

/** Requeues runs that executors could not start. */
async function requeueReturnedRuns({ pool, onReturned }: ReportDeps, batches: RunEventBatch[]): Promise<void> {
  const returned = batches.filter(isReturnedToQueue);
  if (returned.length && (await requeueRuns(pool, returned, 'returned'))) onReturned();
}

async function applySuspension(deps: ReportDeps, report: SuspensionReport): Promise<void> {
  const outcome = await suspendRun(deps.pool, report, deps.onSuspended);
  if (outcome === 'none') deps.onRepeated(report.runId);
  else if (outcome === 'cancelled') await endUnsuspendableRun(deps, report, 'cancelled', CANCELLED);
  else if ('refused' in outcome) {
    const { refused } = outcome;
    await endUnsuspendableRun(deps, report, refused.code === 'approval_rejected' ? 'rejected' : 'failed', refused);
  } else deps.onWaiting(outcome.run);
}

/** Instead of suspending it. */
async function endUnsuspendableRun(
  { pool, source, onSettled }: ReportDeps,
  { suspension, ...place }: SuspensionReport,
  status: 'failed' | 'cancelled' | 'rejected',
  error: RunError,
): Promise<void> {
  const { runId, attempt, at } = place;
  const events = buildServiceClosingEvents(getServiceSeqBase(attempt), at, { status, error });
  const ending = { ...place, from: 'running' as const, status, error };
  const [run] = await settleRuns(pool, source, [{ runId, attempt, events }], [ending], []);
  if (run) onSettled({ run, logs: undefined });
}

/** One message that can't be written is tried again where that may help, or dropped: its run ends by the sweeper. */
export async function rejectReport(deps: ReportDeps, { message, batch }: ReceivedBatch, err: unknown): Promise<void> {
  const { runId } = batch;
  const suspension = findSuspension(batch, deps.computeCostUsd);
  if (isTransient(err) || (suspension && message.info.deliveryCount < SUSPEND_TRIES)) {
    deps.log.warn({ err, runId }, 'run events could not be written: will try again');
    return message.nak(SUSPEND_RETRY_MS);
  }
  deps.log.error({ err, runId }, 'run events could not be written: dropping them');
  if (suspension) await endUnsuspendableRun(deps, suspension, 'failed', NOT_SUSPENDED);
  message.term();
}

type Artifact = Extract<RunEvent, { type: 'artifact' }> & { runId: string; attempt: number };

const ARTIFACTS = createRowSet<Artifact>('a', {
  id: ['text', (a) => a.artifactId],
  run_id: ['text', (a) => a.runId],
  attempt: ['int', (a) => a.attempt],
  name: ['text', (a) => a.name],
  content_type: ['text', (a) => a.contentType],
  size: ['bigint', (a) => a.size],
  sha256: ['text', (a) => a.sha256],
  key: ['text', (a) => a.key],
});

const INSERT_ARTIFACTS = createUnnamedStatement(
  `INSERT INTO run_artifacts (id, run_id, workspace_id, name, content_type, size, sha256, key)
   SELECT a.id, r.id, r.workspace_id, a.name, a.content_type, a.size, a.sha256, a.key FROM ${ARTIFACTS.sql}
   JOIN runs r ON r.id = a.run_id AND r.attempt >= a.attempt AND starts_with(a.key, r.workspace_id || '/runs/' || r.id || '/')
   ON CONFLICT DO NOTHING`,
);

async function insertArtifacts(pool: Pool, batches: RunEventBatch[]): Promise<void> {
  const rows = batches.flatMap(({ runId, attempt, events }) =>
    events.flatMap((event) => (event.type === 'artifact' ? [{ ...event, runId, attempt }] : [])),
  );
  if (rows.length) await pool.query(INSERT_ARTIFACTS(ARTIFACTS.params(rows)));
}
