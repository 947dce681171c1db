/**
 * Replays recorded results of tools, models, called runs and approvals in rehearsals.
 *
 * The k-th step of one kind, name and request gets the k-th record of the same. The rehearsal's own steps count the
 * used records, so that an attempt that runs again from the top gets the same results.
 */
import { createHash } from 'node:crypto';
import type { RunError, StepKind, Suspension } from '@gantry/events';
import { createStatement, type Sql } from '@gantry/postgres';
import type { Rehearsal, RunStatus } from './run';
import type { StepRow } from './run-steps';

/** Error type of a rehearsal that requested an approval or a call without a record. */
export const NOT_RECORDED = 'NotRecorded';

/** Returns the SHA-256 (hex) of a value's JSON, independent of the order of keys. */
export const computeRequestDigest = (request: unknown): string =>
  createHash('sha256')
    .update(
      JSON.stringify(request ?? null, (_key, value) =>
        typeof value === 'object' && value !== null && !Array.isArray(value)
          ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
          : value,
      ),
    )
    .digest('hex');

/** Returns the digest of an approval's or a call's request; null for a sleep. */
export function computeSuspensionDigest(suspension: Suspension): string | null {
  if (suspension.kind === 'sleep') return null;
  return computeRequestDigest(
    suspension.kind === 'call' ? suspension.inputs : [suspension.data ?? null, suspension.form],
  );
}

/** A step of a rehearsal that needs a recorded result. */
export interface RequestedStep {
  runId: string;
  ordinal: number;
  kind: Extract<StepKind, 'tool' | 'call' | 'approve'>;
  name: string;
  requestDigest: string;
}

export interface RecordedResult extends Pick<StepRow, 'status' | 'result'> {
  /** Status of the recorded run. */
  runStatus: RunStatus;
  runError: RunError | null;
}

const FIND_RECORD = createStatement(
  'find-recorded-answer',
  `SELECT s.status, s.result, o.status AS "runStatus", o.error AS "runError"
   FROM runs mine JOIN runs o ON o.id = $of AND o.workspace_id = mine.workspace_id
     JOIN run_steps s ON s.run_id = o.id AND s.kind = $kind AND s.name = $name AND s.asked_digest = $asked_digest
   WHERE mine.id = $run_id
   ORDER BY s.ordinal LIMIT 1
   OFFSET (SELECT count(*) FROM run_steps m WHERE m.run_id = $run_id AND m.ordinal < $ordinal
     AND m.kind = $kind AND m.name = $name AND m.asked_digest = $asked_digest)`,
);

/** @returns null if the rehearsed run has no such record, or all are used */
export async function findRecord(
  sql: Sql,
  { of: originalRunId }: Rehearsal,
  step: RequestedStep,
): Promise<RecordedResult | null> {
  if (originalRunId === null) return null;
  const { runId: run_id, requestDigest: asked_digest, ordinal, kind, name } = step;
  const { rows } = await sql.query(FIND_RECORD({ of: originalRunId, run_id, asked_digest, ordinal, kind, name }));
  return rows[0] ?? null;
}

const KIND_LABELS = {
  tool: 'results of tools that can write',
  call: 'results of calls to workers',
  approve: 'approval decisions',
};

/** Describes what was recorded instead, and the remedy. */
export async function describeMissingRecord(
  sql: Sql,
  { of }: Rehearsal,
  { kind, name, requestDigest }: RequestedStep,
): Promise<string> {
  const rule = `in a rehearsal, ${KIND_LABELS[kind]} come from the recorded run, but`;
  const quoted = JSON.stringify(name);
  if (of === null)
    return `${rule} this rehearsal is not based on a recorded run: rehearse a run that requested ${quoted}`;
  const { rows } = await sql.query({
    text: `SELECT count(*)::int AS times, count(*) FILTER (WHERE asked_digest = $4)::int AS same
           FROM run_steps WHERE run_id = $1 AND kind = $2 AND name = $3`,
    values: [of, kind, name, requestDigest],
  });
  const { times, same } = rows[0];
  const recorded =
    times === 0
      ? `run ${of} never requested ${quoted}`
      : same === 0
        ? `run ${of} requested ${quoted} with different arguments`
        : `run ${of} has no recorded results left for ${quoted} with these arguments, or never received any`;
  return `${rule} ${recorded}: rehearse a run that made this request, or make the same request as the recorded run`;
}
