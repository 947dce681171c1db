/**
 * Calls of tools as rows of run_steps: `calling` is committed before the call, what came of it before the code sees it.
 *
 * A failure counts for the attempt that it happened to: the next attempt calls again, as it executes a failed step
 * again, unless the code had gone on to another step. An unknown outcome is final, and stored as a completed
 * step that failed.
 */
import { STEP_FAILED, type ToolFailure, toolFailure } from '@gantry/events';
import { createStatement, type Sql, transaction, writeRow } from '@gantry/postgres';
import type { Pool } from 'pg';
import type { Run } from '../run';
import { RUN_COLUMNS, toRun } from '../run-row';
import type { StepRow } from '../run-steps';
import type { RunAssignment } from '../run-tokens';

export interface ToolStepKey extends RunAssignment {
  ordinal: number;
  /** The name of the step. */
  name: string;
  /** A digest of the arguments. */
  requestDigest: string;
}

export interface ToolStep extends Pick<StepRow, 'kind' | 'name' | 'status' | 'result'> {
  /** That asked last. */
  attempt: number | null;
  /** The number of repetitions after a lost caller. */
  lostCalls: number;
  /** The call may still be going on. */
  isBusy: boolean;
}

/** Null unless the executor holds this attempt. */
export async function findHeldRun(pool: Pool, { runId, attempt, executorId }: ToolStepKey): Promise<Run | null> {
  const { rows } = await pool.query({
    name: 'run-of-tool-call',
    text: `SELECT ${RUN_COLUMNS} FROM runs r WHERE r.id = $1 AND r.attempt = $2 AND r.executor_id = $3 AND r.status = 'running'`,
    values: [runId, attempt, executorId],
  });
  return rows[0] ? toRun(rows[0]) : null;
}

/** Lease of a call that a replica makes; the replica renews it three times in that time. */
const CALL_LEASE_MS = 15_000;
export const CALL_RENEW_MS = CALL_LEASE_MS / 3;

/** The record at its place, and the number of tools that the run has called. */
export async function findToolStep(
  pool: Pool,
  { runId, ordinal }: ToolStepKey,
): Promise<{ step: ToolStep | null; calls: number }> {
  const { rows } = await pool.query({
    name: 'tool-step',
    text: `SELECT s.kind, s.name, s.status, s.result, s.attempt, s.lost_calls AS "lostCalls", coalesce(s.calling_until > now(), false) AS "isBusy",
             (SELECT count(*)::int FROM run_steps t WHERE t.run_id = $1 AND t.kind = 'tool') AS calls
           FROM (SELECT) one LEFT JOIN run_steps s ON s.run_id = $1 AND s.ordinal = $2`,
    values: [runId, ordinal],
  });
  const { calls, ...step } = rows[0];
  return { step: step.kind === null ? null : step, calls };
}

const CAN_BEGIN = `run_steps.kind = 'tool' AND run_steps.name = $name AND (
  run_steps.status = 'failed' AND run_steps.attempt < $attempt
  OR run_steps.status = 'calling' AND run_steps.calling_until <= now())`;

const BEGIN = createStatement(
  'begin-tool-call',
  `INSERT INTO run_steps (run_id, ordinal, kind, name, asked_digest, status, attempt, started_at, calling_until)
   SELECT r.id, $ordinal::int, 'tool', $name::text, $asked_digest::text, 'calling', $attempt::int, now(), now() + interval '${CALL_LEASE_MS} ms'
   FROM runs r WHERE r.id = $run_id AND r.attempt = $attempt AND r.executor_id = $executor_id AND r.status = 'running'
     AND r.cancel_requested_at IS NULL
   ON CONFLICT (run_id, ordinal) DO UPDATE SET status = 'calling', attempt = excluded.attempt, asked_digest = excluded.asked_digest, result = NULL,
     lost_calls = run_steps.lost_calls + (run_steps.status = 'calling')::int, started_at = excluded.started_at, finished_at = NULL, calling_until = excluded.calling_until
   WHERE ${CAN_BEGIN}
   RETURNING started_at AS "startedAt"`,
);

/**
 * @returns when it began, by which the call is known; null where another request was faster, or the run is elsewhere
 */
export async function beginToolCall(pool: Pool, place: ToolStepKey): Promise<Date | null> {
  const { runId: run_id, executorId: executor_id, requestDigest: asked_digest, ...rest } = place;
  const { rows } = await pool.query(BEGIN({ ...rest, run_id, executor_id, asked_digest }));
  return rows[0]?.startedAt ?? null;
}

/** A call that was taken for lost has begun anew, at another time. */
const IS_SAME_CALL = "run_id = $run_id AND ordinal = $ordinal AND status = 'calling' AND started_at = $started_at";

const RENEW = createStatement(
  'renew-tool-call',
  `UPDATE run_steps SET calling_until = now() + interval '${CALL_LEASE_MS} ms' WHERE ${IS_SAME_CALL}`,
);

export async function renewToolCall(pool: Pool, { runId, ordinal }: ToolStepKey, startedAt: Date): Promise<void> {
  await pool.query(RENEW({ run_id: runId, ordinal, started_at: startedAt }));
}

const RELEASE = createStatement(
  'hand-over-tool-call',
  `UPDATE run_steps SET calling_until = now(), lost_calls = lost_calls - 1 WHERE ${IS_SAME_CALL}`,
);

/**
 * The replica leaves before its call has ended. Beginning it again adds to the lost calls, among which this one is
 * none.
 */
export async function releaseToolCall(pool: Pool, { runId, ordinal }: ToolStepKey, startedAt: Date): Promise<void> {
  await pool.query(RELEASE({ run_id: runId, ordinal, started_at: startedAt }));
}

const END = createStatement(
  'end-tool-call',
  `UPDATE run_steps SET status = $status, result = $result::json, finished_at = now(), calling_until = NULL WHERE ${IS_SAME_CALL}`,
);

export type ToolOutcome = (
  | { result: unknown }
  /** `isFinal`: not called again by a later attempt either, because it may have had an effect. */
  | { failed: ToolFailure; isFinal: boolean }
) & {
  /** Books what the call has cost, in the transaction that records what came of it. Idempotent. */
  settle?: (tx: Sql) => Promise<unknown>;
};

/**
 * False: another call has taken its place. The run may have moved on; what came of the call is for its next attempt
 * then.
 */
export async function endToolCall(
  pool: Pool,
  place: ToolStepKey,
  startedAt: Date,
  outcome: ToolOutcome,
): Promise<boolean> {
  const status = 'failed' in outcome && !outcome.isFinal ? 'failed' : 'completed';
  const end = END({
    run_id: place.runId,
    ordinal: place.ordinal,
    started_at: startedAt,
    status,
    result: toRecord(outcome),
  });
  const { settle } = outcome;
  if (!settle) return writeRow(pool, end);
  return transaction(pool, async (tx) => {
    await settle(tx);
    return writeRow(tx, end);
  });
}

const ABANDON = createStatement(
  'give-up-tool-call',
  `UPDATE run_steps SET status = 'completed', result = $result::json, finished_at = now(), calling_until = NULL
   WHERE run_id = $run_id AND ordinal = $ordinal AND status = 'calling' AND calling_until <= now()`,
);

/** The caller is gone, and how far the call had come is unknown. */
export async function abandonToolCall(pool: Pool, { runId, ordinal }: ToolStepKey, failed: ToolFailure): Promise<void> {
  await pool.query(ABANDON({ run_id: runId, ordinal, result: toRecord({ failed, isFinal: true }) }));
}

const toRecord = (outcome: ToolOutcome): string =>
  JSON.stringify(
    'failed' in outcome
      ? { [STEP_FAILED]: { module: 'gantry', type: 'ToolError', ...outcome.failed } }
      : (outcome.result ?? null),
  );

/** The failure in a recorded result; null: it has none. */
export function parseFailure(result: unknown): ToolFailure | null {
  if (typeof result !== 'object' || result === null || !(STEP_FAILED in result)) return null;
  const { data } = toolFailure.safeParse((result as Record<string, unknown>)[STEP_FAILED]);
  return data ?? null;
}
