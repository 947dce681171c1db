/** Handles executors' requests to record a step of a run. See run-steps.ts. */
import {
  type Bus,
  type RecordStepRequest,
  type RunSource,
  recordStepRequest,
  runSubjects,
  STEP_BYTES_MAX,
  type StepReply,
} from '@gantry/events';
import { createStatement } from '@gantry/postgres';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { z } from 'zod';
import { handleHeldRunRequests } from '../held-run-requests';
import { NOT_HELD, type RunTokens } from '../run-tokens';

const STEPS_MAX = 1_000;

/** Only the service records approvals and results of called runs. */
const recordableKinds: RecordStepRequest['kind'][] = ['step', 'sleep'];

export function handleStepRecords(deps: { bus: Bus; pool: Pool; source: RunSource; tokens: RunTokens; log: Logger }): {
  close(): void;
} {
  const subject = runSubjects.step(deps.source, '*');
  // Too many steps get a reply instead of being dropped.
  const schema = recordStepRequest.extend({ ordinal: z.int().min(1) });
  return handleHeldRunRequests(deps, { subject, schema, queue: 'steps' }, (record) => recordStep(deps.pool, record));
}

const RECORD_STEP = createStatement(
  'record-step',
  `WITH held AS (
     SELECT id FROM runs WHERE id = $run_id AND attempt = $attempt AND executor_id = $executor_id AND status = 'running'
   ), made AS (
     INSERT INTO run_steps (run_id, ordinal, kind, name, status, result, started_at, finished_at)
     SELECT id, $ordinal, $kind, $name, 'completed', $result::json, $started_at::timestamptz,
       coalesce($started_at::timestamptz + $duration_ms::float8 * interval '1 ms', now())
     FROM held
     ON CONFLICT DO NOTHING RETURNING run_id
   )
   SELECT EXISTS (SELECT FROM held) AS held, EXISTS (SELECT FROM made) AS made, s.kind, s.name, s.status, s.result
   FROM (SELECT) one LEFT JOIN run_steps s ON s.run_id = $run_id AND s.ordinal = $ordinal`,
);

async function recordStep(pool: Pool, record: RecordStepRequest & { executorId: string }): Promise<StepReply> {
  const { runId, attempt, executorId, ordinal, kind, name, durationMs } = record;
  const result = JSON.stringify(record.result ?? null);
  if (!recordableKinds.includes(kind)) return { refused: `executors do not record steps of kind ${kind}` };
  if (ordinal > STEPS_MAX) return { refused: `a run can have at most ${STEPS_MAX} steps` };
  if (name.includes('\0')) return { refused: 'the name of a step cannot contain NUL' };
  if (Buffer.byteLength(result) > STEP_BYTES_MAX) {
    return {
      refused: `a step's result can be at most ${STEP_BYTES_MAX / 1024} KB of JSON; put larger results in artifacts`,
    };
  }
  for (;;) {
    const { rows } = await pool.query(
      RECORD_STEP({
        run_id: runId,
        attempt,
        executor_id: executorId,
        ordinal,
        kind,
        name,
        result,
        started_at: new Date(record.startedAt),
        duration_ms: durationMs ?? null,
      }),
    );
    const [stored] = rows;
    if (!stored.held) return NOT_HELD;
    if (stored.made) return { result: record.result ?? null };
    // Another statement wrote it after this one began: the next query sees it.
    if (stored.kind === null) continue;
    if (stored.kind !== kind || stored.name !== name || stored.status !== 'completed') {
      return { refused: `step ${ordinal} is recorded as ${stored.kind} ${JSON.stringify(stored.name)}` };
    }
    return { result: stored.result };
  }
}
