/** Handles tool and model calls in rehearsals. */
import type { ToolFailure } from '@gantry/events';
import type { Pool } from 'pg';
import type { PreparedTool } from './prepared-tool';
import { type AskedStep, findRecord, sayNotRecorded } from './recorded-answers';
import type { Rehearsal } from './run';
import { failureIn, type ToolOutcome, type ToolPlace } from './tool-steps';

type Prepared = PreparedTool | { failed: ToolFailure };

/** Replays a record; without one, calls only read-only tools. */
export async function rehearseCall(
  pool: Pool,
  rehearsal: Rehearsal,
  place: ToolPlace,
  prepare: () => Promise<Prepared>,
): Promise<Prepared> {
  const asked: AskedStep = { ...place, kind: 'tool' };
  const record = await findRecord(pool, rehearsal, asked);
  if (record?.status === 'completed' || record?.status === 'failed') {
    const failed = failureIn(record.result);
    const outcome: ToolOutcome = failed
      ? { failed, isFinal: record.status === 'completed' }
      : { result: record.result };
    return { isRepeatable: true, isReadOnly: true, call: async () => outcome };
  }
  const prepared = await prepare();
  if ('failed' in prepared || prepared.isReadOnly) return prepared;
  return { failed: { code: 'not_recorded', message: await sayNotRecorded(pool, rehearsal, asked) } };
}
