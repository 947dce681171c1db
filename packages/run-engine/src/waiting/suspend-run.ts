/**
 * Suspends a run, which then waits without a process.
 *
 * One transaction moves it out of `running` (by compare-and-set on its attempt), records the step that it waits for as
 * pending, adds a status event, and lets the service create the awaited approval or called run. So no run waits for
 * nothing, and no approval belongs to an active run. A repeated report finds the run already suspended.
 */

import type { RecordedStep, RunError, Suspension } from '@gantry/events';
import { createUnnamedStatement, transaction, writeRow } from '@gantry/postgres';
import type { Pool, PoolClient } from 'pg';
import {
  computeSuspensionDigest,
  describeMissingRecord,
  findRecord,
  NOT_RECORDED,
  type RequestedStep,
} from '../recorded-results';
import type { Rehearsal, Run, WaitState } from '../run';
import { toWaitingFor } from '../run-events';
import { RUN_COLUMNS, toRun } from '../run-row';
import { completeSteps } from '../run-steps';
import type { RunAssignment } from '../run-tokens';

export type RequestedSuspension = Extract<Suspension, { kind: 'approve' | 'call' }>;

/**
 * Creates what the run waits for, in the transaction that suspends it. `ref`: the approval, or the called run,
 * submitted in the same transaction with this run as its parentRunId. `refused` fails the run and rolls the transaction
 * back.
 */
export type OnSuspended = (
  tx: PoolClient,
  run: Run,
  suspension: RequestedSuspension,
) => Promise<{ ref: string } | { refused: RunError }>;

export interface SuspensionReport extends RunAssignment {
  /** Number of its event. */
  seq: number;
  at: Date;
  suspension: Suspension;
  costUsd: number;
  cpuMs: number;
  maxRssBytes: number;
}

/** `none`: the run has changed meanwhile. `cancelled`: its cancellation was requested while it ran. */
export type SuspendOutcome = { run: Run } | { refused: RunError } | 'none' | 'cancelled';

const SLEEP_MS_MAX = 366 * 86_400_000;

class SuspensionRejectedError extends Error {
  constructor(readonly reason: RunError) {
    super(reason.message);
  }
}

export async function suspendRun(
  pool: Pool,
  report: SuspensionReport,
  onSuspended: OnSuspended | undefined,
): Promise<SuspendOutcome> {
  try {
    return await transaction(pool, (tx) => suspendInTransaction(tx, report, onSuspended));
  } catch (err) {
    if (err instanceof SuspensionRejectedError) return { refused: err.reason };
    throw err;
  }
}

async function suspendInTransaction(
  tx: PoolClient,
  report: SuspensionReport,
  onSuspended: OnSuspended | undefined,
): Promise<SuspendOutcome> {
  const { runId, attempt, executorId, suspension } = report;
  const { rows: held } = await tx.query(
    `SELECT cancel_requested_at, spec -> 'rehearsal' AS rehearsal, clock_timestamp() AS now FROM runs WHERE id = $1 AND attempt = $2 AND executor_id = $3 AND status = 'running' FOR UPDATE`,
    [runId, attempt, executorId],
  );
  if (!held[0]) return 'none';
  if (held[0].cancel_requested_at) return 'cancelled';

  const rehearsal: Rehearsal | null = held[0].rehearsal;
  const recorded = (await insertPendingStep(tx, report)) || rehearsal !== null;
  const wakeAt = recorded
    ? report.at
    : suspension.kind === 'sleep'
      ? toWakeAt(suspension, held[0].now.getTime())
      : null;
  const status = suspension.kind === 'approve' && !recorded ? 'pending_approval' : 'suspended';
  if (rehearsal) await replayFromRecord(tx, report, rehearsal);
  let waiting = rehearsal ? buildImmediateWait(suspension) : toWaiting(suspension, '');
  let run = await updateSuspendedRun(tx, report, { status, wakeAt, waiting });
  if (!recorded && suspension.kind !== 'sleep') {
    const ref = await createAwaitedResource(tx, run, suspension, onSuspended);
    await tx.query('UPDATE run_steps SET ref = $3 WHERE run_id = $1 AND ordinal = $2', [
      runId,
      suspension.step.ordinal,
      ref,
    ]);
    if (suspension.kind === 'call') {
      waiting = toWaiting(suspension, ref);
      await tx.query('UPDATE runs SET suspension = $2 WHERE id = $1', [runId, JSON.stringify(waiting)]);
      run = { ...run, suspension: waiting };
    }
  }
  const shown = { status: status === 'suspended' ? 'queued' : status, waiting_for: toWaitingFor(waiting, wakeAt) };
  await tx.query(
    `INSERT INTO run_events (run_id, seq, at, type, data) VALUES ($1, $2, $3, 'status', $4) ON CONFLICT DO NOTHING`,
    [runId, report.seq, report.at, JSON.stringify(shown)],
  );
  return { run };
}

/** @param now by PostgreSQL's clock, which also decides when the run is due */
const toWakeAt = ({ wakeAt, forMs }: Extract<Suspension, { kind: 'sleep' }>, now: number): Date =>
  new Date(Math.min(forMs === undefined ? wakeAt : now + forMs, now + SLEEP_MS_MAX));

/** Completes the step from the record; a sleep ends at once. */
async function replayFromRecord(tx: PoolClient, report: SuspensionReport, rehearsal: Rehearsal): Promise<void> {
  const { runId, suspension } = report;
  const { kind, ordinal } = suspension.step;
  const digest = computeSuspensionDigest(suspension);
  if (digest === null || (kind !== 'approve' && kind !== 'call')) return;
  const requestedStep: RequestedStep = {
    runId,
    ordinal,
    kind,
    name: sanitizeText(suspension.step.name),
    requestDigest: digest,
  };
  const record = await findRecord(tx, rehearsal, requestedStep);
  if (record?.status === 'completed') {
    await completeSteps(tx, [{ runId, ordinal, result: record.result }]);
  } else if (kind === 'approve' && record?.runStatus === 'rejected') {
    throw new SuspensionRejectedError(record.runError ?? { code: 'approval_rejected', message: 'rejected' });
  } else {
    const message = `context.${kind}(): ${await describeMissingRecord(tx, rehearsal, requestedStep)}`;
    throw new SuspensionRejectedError({ code: 'exception', type: NOT_RECORDED, message });
  }
}

/** @returns true if an earlier attempt has completed this step, so that the run need not wait */
async function insertPendingStep(tx: PoolClient, { runId, at, suspension }: SuspensionReport): Promise<boolean> {
  const { ordinal, kind } = suspension.step;
  const name = sanitizeText(suspension.step.name);
  const isInserted = await writeRow(
    tx,
    `INSERT INTO run_steps (run_id, ordinal, kind, name, status, started_at, asked_digest) VALUES ($1, $2, $3, $4, 'pending', $5, $6)
     ON CONFLICT DO NOTHING`,
    [runId, ordinal, kind, name, at, computeSuspensionDigest(suspension)],
  );
  if (isInserted) return false;
  const { rows } = await tx.query('SELECT kind, name, status FROM run_steps WHERE run_id = $1 AND ordinal = $2', [
    runId,
    ordinal,
  ]);
  if (rows[0].kind !== kind || rows[0].name !== name)
    throw new SuspensionRejectedError(buildCodeChangedError(suspension.step, rows[0]));
  return rows[0].status === 'completed';
}

type StepName = Pick<RecordedStep, 'kind' | 'name'>;

const buildCodeChangedError = (requestedStep: StepName & { ordinal: number }, recorded: StepName): RunError => ({
  code: 'exception',
  type: 'CodeChanged',
  message: `step ${requestedStep.ordinal} was recorded as ${recorded.kind} ${JSON.stringify(recorded.name)}, but the code now asks for ${requestedStep.kind} ${JSON.stringify(requestedStep.name)}`,
});

const SUSPEND = createUnnamedStatement(
  `UPDATE runs r SET status = $status, wake_at = $wake_at, suspension = $suspension, executor_id = NULL, lease_expires_at = NULL,
     cost_usd = r.cost_usd + $cost_usd, cpu_ms = coalesce(r.cpu_ms, 0) + $cpu_ms,
     max_rss_bytes = greatest(r.max_rss_bytes, $max_rss_bytes)
   WHERE r.id = $id RETURNING ${RUN_COLUMNS}`,
);

async function updateSuspendedRun(
  tx: PoolClient,
  { runId, costUsd, cpuMs, maxRssBytes }: SuspensionReport,
  { status, wakeAt, waiting }: { status: 'suspended' | 'pending_approval'; wakeAt: Date | null; waiting: WaitState },
): Promise<Run> {
  const used = { cost_usd: costUsd, cpu_ms: cpuMs, max_rss_bytes: maxRssBytes };
  const suspension = JSON.stringify(waiting);
  const { rows } = await tx.query(SUSPEND({ id: runId, status, wake_at: wakeAt, suspension, ...used }));
  return toRun(rows[0]);
}

async function createAwaitedResource(
  tx: PoolClient,
  run: Run,
  suspension: RequestedSuspension,
  onSuspended: OnSuspended | undefined,
): Promise<string> {
  const { kind } = suspension;
  if (!onSuspended)
    throw new SuspensionRejectedError({ code: 'exception', message: `context.${kind}() is available only to workers` });
  const created = await onSuspended(tx, run, suspension);
  if ('refused' in created) throw new SuspensionRejectedError(created.refused);
  return created.ref;
}

/** Builds a wait that ends at once. */
const buildImmediateWait = ({ step }: Suspension): WaitState => ({
  kind: 'sleep',
  step: { ...step, name: sanitizeText(step.name) },
});

function toWaiting(suspension: Suspension, ref: string): WaitState {
  const step = { ...suspension.step, name: sanitizeText(suspension.step.name) };
  if (suspension.kind === 'sleep') return { kind: 'sleep', step };
  if (suspension.kind === 'approve') return { kind: 'approve', step, title: suspension.title };
  return { kind: 'call', step, workerId: suspension.workerId, runId: ref };
}

/** A text column refuses NUL. */
const sanitizeText = (name: string) => name.replaceAll('\0', '\ufffd');
