/** Handles tool and model calls in rehearsals. */
import type { ToolFailure } from '@gantry/events';
import type { Pool } from 'pg';
import { describeMissingRecord, findRecord, type RequestedStep } from '../recorded-results';
import type { Rehearsal } from '../run';
import type { PreparedTool } from './prepared-tool';
import { parseFailure, type ToolOutcome, type ToolStepKey } from './tool-steps';

type PrepareResult = PreparedTool | { failed: ToolFailure };

/** Replays a record; without one, calls only models and, for code that a person has read, read-only tools. */
export async function rehearseCall(
  pool: Pool,
  rehearsal: Rehearsal,
  toolStep: ToolStepKey,
  { isModelCall, prepare }: { isModelCall: boolean; prepare: () => Promise<PrepareResult> },
): Promise<PrepareResult> {
  const requestedStep: RequestedStep = { ...toolStep, kind: 'tool' };
  const record = await findRecord(pool, rehearsal, requestedStep);
  if (record?.status === 'completed' || record?.status === 'failed') {
    const failed = parseFailure(record.result);
    const outcome: ToolOutcome = failed
      ? { failed, isFinal: record.status === 'completed' }
      : { result: record.result };
    return { isIdempotent: true, isReadOnly: true, call: async () => outcome };
  }
  if (isModelCall || !rehearsal.isUnread) {
    const prepared = await prepare();
    if ('failed' in prepared || prepared.isReadOnly) return prepared;
  }
  return { failed: { code: 'not_recorded', message: await describeMissingRecord(pool, rehearsal, requestedStep) } };
}
