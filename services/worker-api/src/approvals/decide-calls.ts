/** Decisions about the tool calls of an agent: each is approved, approved with corrected arguments, or refused. */
import { isDeepStrictEqual } from 'node:util';
import { AppError, type FieldProblem, invalid } from '@gantry/errors';
import type { OperationCall } from '@gantry/http';
import { maskStrings } from '@gantry/masking';
import type { Run } from '@gantry/run-engine';
import { listMismatches } from '../connection-tools/check-arguments';
import { ANSWER_BYTES_MAX } from './approval';
import type { ApprovalDeps } from './approval-deps';
import type { CallDecision, DecidedCalls, StoredCall } from './held-calls';
import { findInputSchema } from './tool-schema';

type CallDecisionInput = NonNullable<NonNullable<OperationCall<'worker', 'approve'>['body']>['calls']>[number];

export interface CallDecisionsInput {
  /** Undefined: all calls are made as the agent asked. */
  calls: CallDecisionInput[] | undefined;
  /** The reason of the whole decision, for refused calls without one. */
  reason: string | null;
  /** The holder of a link approves and refuses only. */
  canCorrect: boolean;
}

/**
 * @throws AppError 400 `invalid_calls` naming what is wrong, 503 `tool_unavailable` where corrected arguments cannot
 * be checked
 */
export async function decideCalls(
  deps: ApprovalDeps,
  run: Run,
  calls: StoredCall[],
  input: CallDecisionsInput,
): Promise<DecidedCalls> {
  const inputsById = input.calls && matchCalls(calls, input.calls);
  const results = calls.map((call) => toDecision(call, inputsById?.get(call.id)?.input, input.reason));
  if (inputsById) {
    const corrected = calls.filter((_, at) => results[at]?.status === 'corrected');
    const problems = corrected.flatMap(({ id }) => findCorrectionProblems(inputsById.get(id), input.canCorrect));
    if (problems.length) throw invalid(problems, 'invalid_calls');
    requireDecisionsSize(results);
    for (const call of corrected) await requireMatchingArguments(deps, run, call, inputsById.get(call.id));
  }
  const redactor = await deps.masking.redactorFor(await deps.secrets.valuesOf(run.workspaceId));
  const stored = await Promise.all(
    calls.map(async (call, at) => {
      const result = results[at] as CallDecision;
      const maskValue = async <T>(value: T) => (await maskStrings(redactor, value)) as T;
      const shown = { arguments: await maskValue(result.arguments), reason: await maskValue(result.reason) };
      return { ...call, decision: { ...result, ...shown } };
    }),
  );
  return { results, stored };
}

interface MatchedDecisionInput {
  input: CallDecisionInput;
  /** The path in the request's body. */
  path: string;
}

/** @throws AppError 400 for calls of elsewhere, for one that is named twice, and for one that is not decided */
function matchCalls(calls: StoredCall[], inputs: CallDecisionInput[]): Map<string, MatchedDecisionInput> {
  const ids = calls.map(({ id }) => id);
  const matched = new Map<string, MatchedDecisionInput>();
  const problems: FieldProblem[] = [];
  for (const [at, input] of inputs.entries()) {
    const path = `calls.${at}`;
    // Bounded: 20 calls (PENDING_CALLS_MAX) and 20 decisions (`maxItems` of CallDecisions).
    if (!ids.includes(input.id)) {
      problems.push({ path: `${path}.id`, message: `is not a call in this approval; the calls are ${ids.join(', ')}` });
    } else if (matched.has(input.id)) problems.push({ path: `${path}.id`, message: 'has more than one decision' });
    if (input.decision === 'refuse' && input.arguments) {
      problems.push({ path: `${path}.arguments`, message: 'are allowed only for an approved call' });
    }
    matched.set(input.id, { input, path });
  }
  const undecided = ids.filter((id) => !matched.has(id));
  if (undecided.length) problems.push({ path: 'calls', message: `must decide ${undecided.join(', ')} as well` });
  if (problems.length) throw invalid(problems, 'invalid_calls');
  return matched;
}

function toDecision(call: StoredCall, input: CallDecisionInput | undefined, reason: string | null): CallDecision {
  if (input?.decision === 'refuse') {
    return { status: 'refused', arguments: null, reason: input.reason?.trim() || reason };
  }
  const given = input?.arguments;
  const isCorrected = given !== undefined && !isDeepStrictEqual(given, call.arguments);
  return { status: isCorrected ? 'corrected' : 'approved', arguments: isCorrected ? given : null, reason: null };
}

function findCorrectionProblems(matched: MatchedDecisionInput | undefined, canCorrect: boolean): FieldProblem[] {
  if (!matched) return [];
  const path = `${matched.path}.arguments`;
  if (!canCorrect)
    return [{ path, message: 'corrections require an account; approve the call unchanged or refuse it' }];
  const nulPath = findNulPath(matched.input.arguments, path);
  return nulPath === null ? [] : [{ path: nulPath, message: 'contains a NUL character' }];
}

/** The place of the first text or name with a NUL. JSON of a request has at most 64 levels. */
function findNulPath(value: unknown, path: string): string | null {
  if (typeof value === 'string') return value.includes('\0') ? path : null;
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, one] of Object.entries(value)) {
    const found = key.includes('\0') ? path : findNulPath(one, `${path}.${key}`);
    if (found !== null) return found;
  }
  return null;
}

/** They become the result of a step, limited to 64 KB. */
function requireDecisionsSize(results: CallDecision[]): void {
  if (Buffer.byteLength(JSON.stringify(results)) <= ANSWER_BYTES_MAX) return;
  const message = `the corrected arguments and reasons exceed ${ANSWER_BYTES_MAX / 1024} KB as JSON`;
  throw invalid([{ path: 'calls', message }], 'invalid_calls');
}

/**
 * @throws AppError 400 naming every argument that does not fit the tool's schema; 503 where there is no schema to
 * check with
 */
async function requireMatchingArguments(
  deps: ApprovalDeps,
  run: Run,
  call: StoredCall,
  matched: MatchedDecisionInput | undefined,
): Promise<void> {
  if (!matched) return;
  const found = await findInputSchema(deps, run, call);
  if ('failed' in found) {
    const detail = `the corrected arguments for ${call.tool} cannot be checked: ${found.failed.message}`;
    throw new AppError('unavailable', 'tool_unavailable', detail);
  }
  const problems = listMismatches(found.schema, matched.input.arguments, 'the arguments');
  if (!problems.length) return;
  const whole = `${matched.path}.arguments`;
  const fields = problems.map(({ path, message }) => ({ path: path ? `${whole}.${path}` : whole, message }));
  throw invalid(fields, 'invalid_calls');
}
