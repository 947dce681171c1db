/**
 * Forwards a run's durable operations from the sandbox to the service that owns the run.
 *
 * A step counts once the service has recorded it: only then does the code get the record's result. While the service
 * is unreachable the request is retried for as long as the run lasts; records are idempotent. A frame that only an
 * attacker could forge ends the run; a mistake that an honest program may make is refused with a message that it
 * raises.
 */
import {
  type FailedStep,
  failedStep,
  formatToolStepName,
  type Job,
  type ModelUsage,
  type PendingCall,
  type RecordedStep,
  type RecordStepRequest,
  recordedStep,
  STEP_BYTES_MAX,
  STEP_FAILED,
  type StepKind,
  type StepReply,
  type Suspension,
  stepKinds,
  suspension as suspensionSchema,
} from '@gantry/events';
import type { Redactor } from '@gantry/masking';
import { startSpan } from '@gantry/tracing';
import { z } from 'zod';
import { maskText, replaceNul, replaceNulInJson } from '../masking/log-lines';
import type { RunHooks } from '../runners/runner';
import { getBytes } from '../transfer/object-transfer';
import { DEPTH_MAX, isDeeperThan } from '../untrusted/untrusted-json';
import type { NewRunEvent } from './event-publisher';
import type { StreamedText } from './streamed-text';
import {
  parseCallGroup,
  parseToolCall,
  parseUsage,
  requestUntilReply,
  type ToolCallRequest,
  type ToolCalls,
  type ToolResult,
} from './tool-calls';

/** Requests that the service that owns a run record one step. @throws if there is no reply. */
export interface StepRecords {
  record(job: Job, step: Omit<RecordStepRequest, 'runId' | 'attempt' | 'token'>): Promise<StepReply>;
}

/** Every step of a run at maximum size, plus the overhead around the results. */
const STEPS_BYTES_MAX = 72 << 20;
const SLEEP_MS_MAX = 367 * 86_400_000;
const FAILURE_CHARS_MAX = 2_000;
const TOO_DEEP = `is nested deeper than ${DEPTH_MAX} levels`;

const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;
const stepName = z
  .string()
  .min(1)
  .max(200)
  .refine((text) => !UNPRINTABLE.test(text), 'contains unprintable characters');
const stepMessage = z.object({
  ordinal: z.int(),
  kind: z.enum(stepKinds).extract(['step', 'sleep']),
  name: stepName,
  startedAt: z.number(),
  result: z.unknown().optional(),
  failed: z.object({ module: z.string(), type: z.string(), message: z.string() }).optional(),
});
const lastFailureMessage = stepMessage
  .required({ failed: true })
  .pick({ ordinal: true, name: true, startedAt: true, failed: true });

/** Loads the steps recorded by earlier attempts. */
export async function loadRecordedSteps({ steps, stepsUrl }: Job): Promise<RecordedStep[]> {
  if (steps || !stepsUrl) return steps ?? [];
  return z.array(recordedStep).parse(JSON.parse((await getBytes(stepsUrl, STEPS_BYTES_MAX)).toString()));
}

export function createStepHooks(options: {
  job: Job;
  recorded: RecordedStep[];
  redactor: Redactor;
  records: StepRecords;
  tools: ToolCalls;
  spoken: Pick<StreamedText, 'begin' | 'end'>;
  emit: (event: NewRunEvent) => void;
  /** Returns true once the run can no longer affect its result. */
  isOver: () => boolean;
  onRetry: (err: unknown) => void;
}): Required<Pick<RunHooks, 'onStep' | 'onSuspend' | 'onTool' | 'onTools'>> {
  const { job, redactor, spoken, emit } = options;
  const stepStartedAt = Date.now();
  const recorded = new Set(options.recorded.map(({ ordinal }) => ordinal));
  let last = Math.max(0, ...recorded);
  let isWaiting = false;
  let isCallingTool = false;

  /**
   * Checks that ordinals are consecutive, and that none is assigned once the run waits. Of interrupted concurrent calls
   * some may be recorded: the others fill the gaps.
   */
  function assertOrdinals(ordinals: number[]) {
    if (isWaiting) throw new Error('a step was sent while the run was waiting');
    if (isCallingTool) throw new Error('a step was sent during a tool call');
    const [first = 0, ...rest] = ordinals;
    if (first === last + 1 && !rest.length) return;
    const used = new Set([...recorded, ...ordinals]);
    const end = Math.max(last, ...ordinals);
    const isAscending = ordinals.every((one, at) => one > (ordinals[at - 1] ?? 0) && !recorded.has(one));
    const isContiguous =
      first <= last + 1 && Array.from({ length: end - first }, (_, at) => first + at).every((n) => used.has(n));
    if (!isAscending || !isContiguous)
      throw new Error(`step number ${ordinals.join()} cannot follow step number ${last}`);
  }

  const hasSecret = (value: unknown) => JSON.stringify(redactor.json(value)) !== JSON.stringify(value);

  async function onStep(message: unknown): Promise<StepReply> {
    const { ordinal, kind, startedAt, failed, ...step } = parseOrThrow(stepMessage, message);
    assertOrdinals([ordinal]);
    const what = `${kind} ${JSON.stringify(step.name)}`;
    if (hasSecret(step.name)) return { refused: `the name of a ${kind} contains a secret` };
    let result: unknown;
    if (failed) {
      const masked = Object.entries(failed).map(([key, text]) => [key, maskText(redactor, text, FAILURE_CHARS_MAX)]);
      result = { [STEP_FAILED]: Object.fromEntries(masked) };
    } else {
      result = replaceNulInJson(step.result ?? null);
      if (isDeeperThan(result, DEPTH_MAX)) return { refused: `the result of ${what} ${TOO_DEEP}` };
      const bytes = Buffer.byteLength(JSON.stringify(result));
      if (bytes > STEP_BYTES_MAX) {
        return {
          refused: `the result of ${what} is ${bytes} bytes of JSON; the limit is ${STEP_BYTES_MAX}: save it as an artifact, or return less`,
        };
      }
      if (hasSecret(result))
        return { refused: `the result of ${what} contains a secret, which would be stored: omit the secret` };
    }
    const at = Math.round(Math.min(Math.max(startedAt, stepStartedAt), Date.now()));
    const durationMs = Math.max(0, Date.now() - at);
    const record = { ordinal, kind, name: step.name, result, startedAt: at, durationMs };
    const reply = await requestUntilReply(() => options.records.record(job, record), options);
    if ('refused' in reply) return { refused: `${what} could not be recorded: ${reply.refused}` };
    emitStep({ ordinal, kind, name: step.name }, at, durationMs);
    return reply;
  }

  function emitStep(
    step: Pick<RecordedStep, 'ordinal' | 'kind' | 'name'> & { usage?: ModelUsage | undefined },
    startedAt: number,
    durationMs: number,
  ) {
    recorded.add(step.ordinal);
    last = Math.max(last, step.ordinal);
    const attributes = { 'gantry.step.ordinal': step.ordinal };
    startSpan(step.kind, { kind: 'internal', parent: job.traceparent, startedAt, attributes })?.end();
    emit({ type: 'step', ...step, durationMs });
  }

  /** Parses a tool call. @throws for a call that only a forged frame can contain */
  function parseAllowedCall(message: unknown): { request: ToolCallRequest; name: string } | { refused: string } {
    const call = parseToolCall(message, job);
    if ('refused' in call) return call;
    const name = formatToolStepName(call.request.connection, call.request.tool);
    if (UNPRINTABLE.test(name)) throw new Error('the name of a tool contains unprintable characters');
    return hasSecret(name) ? { refused: 'the name of a tool contains a secret' } : { request: call.request, name };
  }

  async function callAndEmit({ request, name }: { request: ToolCallRequest; name: string }): Promise<ToolResult> {
    const startedAt = Date.now();
    if (request.stream) spoken.begin(request.ordinal);
    const answer = await requestUntilReply<ToolResult>(() => options.tools.call(job, request), options);
    if (request.stream) spoken.end(answer);
    if (!('refused' in answer)) {
      const step = { ordinal: request.ordinal, kind: 'tool' as const, name, usage: parseUsage(request, answer) };
      emitStep(step, startedAt, Date.now() - startedAt);
    }
    return answer;
  }

  async function onTool(message: unknown): Promise<ToolResult> {
    const call = parseAllowedCall(message);
    if ('refused' in call) return call;
    assertOrdinals([call.request.ordinal]);
    isCallingTool = true;
    return callAndEmit(call).finally(() => {
      isCallingTool = false;
    });
  }

  async function onTools(message: unknown): Promise<{ answers: ToolResult[] } | { refused: string }> {
    const group = parseCallGroup(message).map(parseAllowedCall);
    const accepted = group.flatMap((one) => ('refused' in one ? [] : [one]));
    const refused = group.find((one) => 'refused' in one);
    if (refused) return refused;
    if (accepted.some(({ request }) => request.stream))
      throw new Error('concurrent tool calls include a streamed call');
    assertOrdinals(accepted.map(({ request }) => request.ordinal));
    isCallingTool = true;
    try {
      return { answers: await Promise.all(accepted.map(callAndEmit)) };
    } finally {
      isCallingTool = false;
    }
  }

  function onSuspend(message: unknown): { suspension: Suspension } | { refused: string } {
    const wanted = parseOrThrow(suspensionSchema, message);
    const { step } = wanted;
    parseOrThrow(stepName, step.name);
    if (step.kind !== wanted.kind) throw new Error('a suspension has two kinds');
    assertOrdinals([step.ordinal]);
    // The name of an approval is its title, which is masked: see below.
    if (wanted.kind !== 'approve' && hasSecret(step.name))
      return { refused: `the name of a ${step.kind} contains a secret` };
    const accepted = checkSuspension(wanted);
    if ('refused' in accepted) return accepted;
    isWaiting = true;
    return accepted;
  }

  function checkSuspension(requested: Suspension): { suspension: Suspension } | { refused: string } {
    if (requested.kind === 'sleep') {
      if (requested.wakeAt < 0 || requested.wakeAt > Date.now() + SLEEP_MS_MAX)
        throw new Error('a sleep exceeds the limit');
      return { suspension: requested };
    }
    assertPermitted(job, requested.kind);
    if (requested.kind === 'call') {
      const inputs = replaceNulInJson(requested.inputs) as Record<string, unknown>;
      if (isDeeperThan(inputs, DEPTH_MAX)) return { refused: `the input to a call ${TOO_DEEP}` };
      if (isTooLarge(inputs))
        return { refused: `the limit for the inputs of a call is ${STEP_BYTES_MAX} bytes of JSON` };
      if (hasSecret(inputs)) {
        return { refused: 'the inputs of a call contain a secret: declare it in the called worker instead' };
      }
      return { suspension: { ...requested, inputs } };
    }
    // Shown to people and never returned to the code: masked like a log line.
    const masked = {
      title: replaceNul(redactor.text(requested.title)),
      message: requested.message === null ? null : replaceNul(redactor.text(requested.message)),
      data: replaceNulInJson(redactor.json(requested.data ?? null)),
      form: replaceNulInJson(redactor.json(requested.form)) as unknown[] | null,
      ...(requested.calls && { calls: requested.calls.map(maskCall) }),
    };
    const json = [masked.data, masked.form, masked.calls ?? null];
    if (json.some((one) => isDeeperThan(one, DEPTH_MAX))) {
      return { refused: `the data or form of an approval ${TOO_DEEP}` };
    }
    if (json.some(isTooLarge)) {
      return { refused: `the data and form of an approval are limited to ${STEP_BYTES_MAX} bytes of JSON each` };
    }
    return { suspension: { ...requested, ...masked, step: { ...requested.step, name: masked.title } } };
  }

  const maskCall = (call: PendingCall): PendingCall => ({
    ...call,
    parameters: replaceNulInJson(redactor.json(call.parameters)) as PendingCall['parameters'],
  });

  return { onStep, onSuspend, onTool, onTools };
}

/** Parses the step that the code's process reports as failed last. Undefined if it is missing or invalid. */
export function parseFailedStep(reported: unknown, redactor: Redactor, stepStartedAt: number): FailedStep | undefined {
  const { data } = lastFailureMessage.safeParse(reported);
  if (!data) return undefined;
  const finishedAt = Date.now();
  const found = failedStep.safeParse({
    ordinal: data.ordinal,
    name: maskText(redactor, data.name, 200),
    type: maskText(redactor, data.failed.type, 200),
    message: maskText(redactor, data.failed.message, FAILURE_CHARS_MAX),
    startedAt: Math.round(Math.min(Math.max(data.startedAt, stepStartedAt), finishedAt)),
    finishedAt,
  });
  return found.data;
}

function parseOrThrow<T extends z.ZodType>(schema: T, value: unknown): z.infer<T> {
  const found = schema.safeParse(value);
  if (!found.success) throw new Error('an invalid step');
  return found.data;
}

const isTooLarge = (value: unknown) => Buffer.byteLength(JSON.stringify(value)) > STEP_BYTES_MAX;

function assertPermitted(job: Job, kind: Extract<StepKind, 'approve' | 'call'>): void {
  if (!job.may?.includes(kind)) throw new Error(`this run can't request a suspension for ${kind}`);
}
