/**
 * Resumes waiting runs: the awaited step gets its result, and they are queued at their earlier position.
 *
 * A run is due when its wake_at has passed: the end of a sleep, the next try, or the end of the called run, whose
 * ending statement sets it. So no end of a called run can be missed, whichever process dies.
 * In a closed workspace no run resumes; runs that became due there resume after a restore.
 */

import { buildWorkspaceClosedSql, STEP_BYTES_MAX } from '@gantry/events';
import { transaction } from '@gantry/postgres';
import type { Pool, PoolClient } from 'pg';
import { isTerminal, type Run } from '../run';
import { appendServiceEvents, type ServiceEvent } from '../run-events';
import { RUN_COLUMNS, toRun } from '../run-row';
import { type CompletedStep, completeSteps } from '../run-steps';

const BATCH = 200;

export interface ResumeOptions {
  from: 'pending_approval' | 'suspended';
  /** The awaited step, and its result for the code. */
  step?: { ordinal: number; result: unknown };
  /** Reason for the log. */
  reason?: string;
}

/** Result of `context.call()`. */
type CalledResult = Pick<Run, 'status' | 'output' | 'error'>;

/**
 * Resumes a run inside the caller's transaction. @returns null, without a change, if the run's status has changed or it
 * does not wait for that step
 */
export async function resumeRun(tx: PoolClient, runId: string, options: ResumeOptions): Promise<Run | null> {
  const { from, step, reason } = options;
  const { rows } = await tx.query(`SELECT ${RUN_COLUMNS} FROM runs r WHERE r.id = $1 AND r.status = $2 FOR UPDATE`, [
    runId,
    from,
  ]);
  if (!rows[0]) return null;
  const waitingRun = toRun(rows[0]);
  const awaitedStep = getAwaitedStep(waitingRun);
  if (awaitedStep?.ordinal !== step?.ordinal) return null;
  const completedSteps = step ? await completeSteps(tx, [{ runId, ...step }]) : [];
  if (step && !completedSteps.length) return null;
  const [run] = await queueRuns(tx, [runId]);
  await appendServiceEvents(tx, buildResumedEvents(waitingRun, completedSteps, reason));
  return run ?? null;
}

const IS_SUSPENDED = `r.status = 'suspended' AND NOT ${buildWorkspaceClosedSql('r.workspace_id')}`;
/** When the first suspended run is due. */
export const SUSPENDED_RUNS_DUE_AT = `(SELECT r.wake_at FROM runs r WHERE ${IS_SUSPENDED} AND r.wake_at IS NOT NULL
  ORDER BY r.wake_at LIMIT 1)`;

/** @returns up to BATCH due runs that are queued now, and whether there may be more */
export async function wakeDueRuns(pool: Pool): Promise<{ runs: Run[]; more: boolean }> {
  return transaction(pool, async (tx) => {
    const { rows } = await tx.query({
      name: 'due-runs',
      text: `SELECT ${RUN_COLUMNS} FROM runs r WHERE ${IS_SUSPENDED} AND r.wake_at <= now() ORDER BY r.wake_at LIMIT $1 FOR UPDATE OF r SKIP LOCKED`,
      values: [BATCH],
    });
    if (!rows.length) return { runs: [], more: false };
    const sleepingRuns = rows.map(toRun);
    const called = await loadCalledResults(tx, sleepingRuns);
    const earlyRuns = sleepingRuns.filter(({ id }) => called.get(id) === 'under way');
    if (earlyRuns.length)
      await tx.query('UPDATE runs SET wake_at = NULL WHERE id = ANY($1)', [earlyRuns.map(({ id }) => id)]);
    // Bounded: BATCH runs.
    const dueRuns = sleepingRuns.filter((run) => !earlyRuns.includes(run));
    const steps = dueRuns.flatMap((run) => {
      const step = getAwaitedStep(run);
      return step ? [{ runId: run.id, ordinal: step.ordinal, result: called.get(run.id) ?? null }] : [];
    });
    const completedSteps = steps.length ? await completeSteps(tx, steps) : [];
    const runs = await queueRuns(
      tx,
      dueRuns.map(({ id }) => id),
    );
    await appendServiceEvents(
      tx,
      dueRuns.flatMap((run) => buildResumedEvents(run, completedSteps, describeWakeReason(run, called.get(run.id)))),
    );
    return { runs, more: sleepingRuns.length === BATCH };
  });
}

const getAwaitedStep = ({ suspension }: Run) => (suspension && 'step' in suspension ? suspension.step : undefined);

/** Keeps available_at: started runs go before new ones. */
async function queueRuns(tx: PoolClient, runIds: string[]): Promise<Run[]> {
  const { rows } = await tx.query(
    `UPDATE runs r SET status = 'queued', wake_at = NULL, suspension = NULL WHERE r.id = ANY($1) RETURNING ${RUN_COLUMNS}`,
    [runIds],
  );
  return rows.map(toRun);
}

function describeWakeReason({ suspension }: Run, called: CalledResult | 'under way' | undefined): string | undefined {
  if (suspension?.kind === 'sleep') {
    return suspension.step.kind === 'sleep' ? 'the sleep is over' : 'the recorded result was used';
  }
  if (suspension?.kind === 'retry') return 'retrying after an error';
  return typeof called === 'object' ? `the called run ended with status ${called.status}` : undefined;
}

function buildResumedEvents(
  waitingRun: Run,
  completedSteps: CompletedStep[],
  reason: string | undefined,
): ServiceEvent[] {
  const { id: runId, attempt } = waitingRun;
  const step = getAwaitedStep(waitingRun);
  // Absent if another attempt had completed the step and emitted its event.
  const done = completedSteps.find((one) => one.runId === runId);
  const text = `${attempt > 0 ? 'Resumed' : 'Released'}${reason ? `: ${reason}` : ''}.`;
  return [
    { runId, attempt, type: 'log', data: { stream: 'platform', level: 'info', text } },
    ...(step
      ? [{ runId, attempt, type: 'step' as const, data: { ...step, ...(done && { duration_ms: done.durationMs }) } }]
      : []),
    // A suspended run was reported as queued already.
    ...(waitingRun.status === 'suspended'
      ? []
      : [{ runId, attempt, type: 'status' as const, data: { status: 'queued' } }]),
  ];
}

/** Loads called runs' results by waiting run. An output that is too large for a step becomes an error. */
async function loadCalledResults(
  tx: PoolClient,
  sleepingRuns: Run[],
): Promise<Map<string, CalledResult | 'under way'>> {
  const calls = sleepingRuns.flatMap(({ id, suspension }) =>
    suspension?.kind === 'call' ? [{ id, called: suspension.runId }] : [],
  );
  if (!calls.length) return new Map();
  const { rows } = await tx.query<CalledRow & { id: string }>(
    `SELECT id, status, error, output_key IS NOT NULL OR octet_length(output::text) > $2 AS too_large,
       CASE WHEN octet_length(output::text) <= $2 THEN output END AS output
     FROM runs WHERE id = ANY($1)`,
    [calls.map(({ called }) => called), STEP_BYTES_MAX],
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  return new Map(calls.map(({ id, called }) => [id, toCalledResult(byId.get(called))]));
}

type CalledRow = CalledResult & { too_large: boolean };

const DELETED_RESULT: CalledResult = {
  status: 'failed',
  output: null,
  error: { code: 'exception', message: 'the called run was deleted' },
};

function toCalledResult(row: CalledRow | undefined): CalledResult | 'under way' {
  if (!row) return DELETED_RESULT;
  if (!isTerminal(row.status)) return 'under way';
  if (!row.too_large) return { status: row.status, output: row.output, error: row.error };
  const message = `the called run completed, but its output is larger than ${STEP_BYTES_MAX / 1024} KB of JSON; pass larger data as artifacts`;
  return { status: 'failed', output: null, error: { code: 'output_too_large', message } };
}
