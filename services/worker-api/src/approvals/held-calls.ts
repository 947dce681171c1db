/** Maps tool calls of an agent that wait for a person to their stored form and their API representation. */

import { invalid } from '@gantry/errors';
import { jsonObject, type PendingCall, pendingCall } from '@gantry/events';
import type { SurfaceSchemas } from '@gantry/openapi';
import { z } from 'zod';
import type { Approval } from '../generated/prisma/client';

/** `arguments`: null unless corrected. `reason`: for the model; null unless refused. */
export type CallDecision = NonNullable<SurfaceSchemas<'worker'>['ApprovalCall']['decision']>;

export interface StoredCall extends PendingCall, z.infer<typeof storedCallSchema> {
  /** Null while it is pending, and where the run was stopped. */
  decision: CallDecision | null;
}

export interface DecidedCalls {
  /** For the run, in the order of the calls: with exactly the approved arguments. */
  results: CallDecision[];
  /** For people: without the values of secrets. */
  stored: StoredCall[];
}

/** `tool`: the model's name for it. */
const storedCallSchema = z.object({ tool: z.string().min(1).max(200), arguments: jsonObject });
/** The data shown to people without a list of calls: one call, or several. */
const storedDataSchema = z.union([
  storedCallSchema.transform((call) => [call]),
  z.object({ calls: z.array(storedCallSchema) }).transform(({ calls }) => calls),
]);

/** Null for an approval without tool calls. */
export const findStoredCalls = ({ calls }: Pick<Approval, 'calls'>): StoredCall[] | null =>
  calls === null ? null : (calls as object as StoredCall[]);

/**
 * Matches the calls of a suspended run with the data shown of them.
 * @throws AppError 400 where the shown data do not belong to these calls
 */
export function parseStoredCalls(pendingCalls: PendingCall[], data: unknown): StoredCall[] {
  const shown = storedDataSchema.safeParse(data).data ?? [];
  if (shown.length !== pendingCalls.length || new Set(pendingCalls.map(({ id }) => id)).size !== pendingCalls.length) {
    throw invalid([{ path: 'calls', message: 'do not match the calls in data' }]);
  }
  return shown.map((call, at) => ({ ...pendingCall.parse(pendingCalls[at]), ...call, decision: null }));
}

/** @param schemas by the id of the call; absent: omits them */
export function callsToApi(approval: Pick<Approval, 'calls'>, schemas?: ReadonlyMap<string, object | null>) {
  const calls = findStoredCalls(approval);
  if (!calls) return null;
  return calls.map(({ id, tool, arguments: requested, decision }) => ({
    id,
    tool,
    arguments: requested,
    decision,
    ...(schemas && { input_schema: schemas.get(id) ?? null }),
  }));
}
