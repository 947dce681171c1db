/**
 * Handles tool calls of runs for executors.
 *
 * Executors repeat a request until it is answered, since replies get lost and replicas end. The tool is still called
 * once: the call is recorded before it starts, repeated requests wait for it, and if its replica is lost, only an
 * idempotent tool is called again, up to twice. See tool-steps.ts and ADR 44.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { isDependencyDown } from '@gantry/errors';
import {
  type Bus,
  formatToolStepName,
  MODELS_CONNECTION,
  type RunSource,
  runSubjects,
  STEP_BYTES_MAX,
  TOOL_HOLD_MS,
  type ToolCall,
  type ToolFailure,
  type ToolReply,
  toolCall,
} from '@gantry/events';
import { transaction } from '@gantry/postgres';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { handleHeldRunRequests } from '../held-run-requests';
import { computeRequestDigest } from '../recorded-results';
import type { Run } from '../run';
import { NOT_HELD, type RunTokens } from '../run-tokens';
import type { RunWatchers } from '../waiting/run-watchers';
import { type RunWatch, watchRun } from '../waiting/watch-run';
import type { PreparedTool, PrepareTool } from './prepared-tool';
import { rehearseCall } from './rehearse-call';
import {
  abandonToolCall,
  beginToolCall,
  CALL_RENEW_MS,
  endToolCall,
  findHeldRun,
  findToolStep,
  parseFailure,
  releaseToolCall,
  renewToolCall,
  type ToolOutcome,
  type ToolStep,
  type ToolStepKey,
} from './tool-steps';
import { createToolTextStream } from './tool-text-stream';

/** Limit per run, for all its attempts. */
export const TOOL_CALLS_MAX = 500;
/** A call that may be repeated is given up then: it may be what ends its replicas. */
const LOST_CALLS_MAX = 2;
/** At this replica, of tools and of models; each may hold an answer of some megabytes. */
const CONCURRENT_CALLS_MAX = 100;
/** Limit for all attempts to store a call's outcome. */
const STORE_MS_MAX = 20_000;
const POLL_MS = 250;
/** The time for which active calls may delay the end of the process. */
const DRAIN_MS_MAX = 10_000;

interface Deps {
  bus: Bus;
  pool: Pool;
  source: RunSource;
  tokens: RunTokens;
  waiters: RunWatchers;
  prepare: PrepareTool;
  log: Logger;
  activeCalls: Set<ActiveCall>;
  watches: Set<RunWatch>;
}

/** A call that this replica makes, and that may be made again elsewhere. */
interface ActiveCall {
  place: ToolStepKey;
  startedAt: Date;
  /** Resolves once no renewal of it is under way any more, and none will be. */
  stopRenewing(): Promise<void>;
}

export function handleToolCalls(options: Omit<Deps, 'activeCalls' | 'watches'>): { stop(): Promise<void> } {
  const deps: Deps = { ...options, activeCalls: new Set(), watches: new Set() };
  // Each for itself: models take minutes, and tools are not to wait for them.
  const [tools, models] = [new Map<string, Promise<ToolReply>>(), new Map<string, Promise<ToolReply>>()];

  function handleOrJoinCall(request: ToolCall & { executorId: string }): Promise<ToolReply> | undefined {
    const key = JSON.stringify([request.runId, request.attempt, request.ordinal, request.connection, request.tool]);
    const activeCalls = request.connection === MODELS_CONNECTION ? models : tools;
    const present = activeCalls.get(key);
    if (present || activeCalls.size >= CONCURRENT_CALLS_MAX) return present;
    const answer = handleCall(deps, request).finally(() => activeCalls.delete(key));
    activeCalls.set(key, answer);
    return answer;
  }

  const subject = runSubjects.tool(deps.source, '*');
  const requests = handleHeldRunRequests(deps, { subject, schema: toolCall, queue: 'tools' }, async (request) => {
    const held = new AbortController();
    const later = delay(TOOL_HOLD_MS, { calling: true } as const, { signal: held.signal, ref: false });
    later.catch(() => {});
    try {
      return await Promise.race([handleOrJoinCall(request) ?? later, later]);
    } finally {
      held.abort();
    }
  });
  return {
    async stop() {
      requests.close();
      await Promise.race([
        Promise.allSettled([...tools.values(), ...models.values()]),
        delay(DRAIN_MS_MAX, undefined, { ref: false }),
      ]);
      await releaseCalls(deps);
      for (const watch of deps.watches) watch.close();
    },
  };
}

async function handleCall(deps: Deps, call: ToolCall & { executorId: string }): Promise<ToolReply> {
  const { pool, log } = deps;
  const { runId, attempt, executorId, ordinal, connection, tool } = call;
  const place: ToolStepKey = {
    runId,
    attempt,
    executorId,
    ordinal,
    name: formatToolStepName(connection, tool),
    requestDigest: computeRequestDigest(call.arguments),
  };
  for (;;) {
    const run = await findHeldRun(pool, place);
    if (!run) return NOT_HELD;
    if (run.cancelRequestedAt) {
      // Its executor is ending it: a failed call would only let the code end it in another way before.
      await delay(POLL_MS, undefined, { ref: false });
      continue;
    }
    const { step, calls } = await findToolStep(pool, place);
    const known = step && findReply(step, place);
    if (known) return known;
    if (step?.isBusy) {
      await delay(POLL_MS, undefined, { ref: false });
      continue;
    }
    if (!step && calls >= TOOL_CALLS_MAX) return { refused: `a run can make at most ${TOOL_CALLS_MAX} tool calls` };
    const prepared = await prepareTool(deps, run, call, place);
    const canRepeat = 'call' in prepared && prepared.isIdempotent && (step?.lostCalls ?? 0) < LOST_CALLS_MAX;
    if (step?.status === 'calling' && !canRepeat) {
      log.warn(
        { runId, ordinal, lostCalls: step.lostCalls, ...('failed' in prepared && { why: prepared.failed }) },
        'tool call abandoned: the service that made it has stopped',
      );
      await abandonToolCall(pool, place, OUTCOME_UNKNOWN);
      continue;
    }
    const watch = watchRun(deps, runId);
    deps.watches.add(watch);
    try {
      const startedAt = await beginToolCall(pool, place);
      if (startedAt) await executeCall(deps, call, { place, startedAt, prepared, signal: watch.signal });
    } finally {
      watch.close();
      deps.watches.delete(watch);
    }
  }
}

interface StartedCall extends Pick<ActiveCall, 'place' | 'startedAt'> {
  prepared: Awaited<ReturnType<PrepareTool>>;
  signal: AbortSignal;
}

/** Other replicas leave the call alone for as long as this one renews it. */
async function executeCall(
  deps: Deps,
  request: ToolCall & { executorId: string },
  { place: stepKey, startedAt, prepared, signal }: StartedCall,
): Promise<void> {
  const { activeCalls } = deps;
  const call = { place: stepKey, startedAt, stopRenewing: startLeaseRenewal(deps, stepKey, startedAt) };
  if ('call' in prepared && prepared.isIdempotent) activeCalls.add(call);
  const textStream = request.stream ? createToolTextStream(deps, request) : null;
  try {
    const tell = textStream?.push ?? (() => {});
    const outcome =
      'failed' in prepared ? { ...prepared, isFinal: false } : await callTool(deps, prepared, tell, signal);
    textStream?.end();
    await storeOutcome(deps, { stepKey, startedAt, outcome });
  } finally {
    void call.stopRenewing();
    activeCalls.delete(call);
  }
}

function startLeaseRenewal({ pool, log }: Deps, place: ToolStepKey, startedAt: Date): () => Promise<void> {
  let renewal = Promise.resolve();
  const timer = setInterval(() => {
    renewal = renewToolCall(pool, place, startedAt).catch((err) =>
      log.warn({ err, runId: place.runId }, 'could not renew the lease of a tool call'),
    );
  }, CALL_RENEW_MS);
  return () => {
    clearInterval(timer);
    return renewal;
  };
}

/** A stop is no crash: a call that goes on for too long is made again elsewhere at once, and does not count as lost. */
async function releaseCalls({ pool, log, activeCalls }: Deps): Promise<void> {
  for (const { place, startedAt, stopRenewing } of activeCalls) {
    await stopRenewing();
    await releaseToolCall(pool, place, startedAt).catch((err) =>
      log.warn({ err, runId: place.runId }, 'could not hand over a tool call: its lease will expire'),
    );
  }
}

/** Returns undefined if the tool may be called, or is being called. */
function findReply(step: ToolStep, { ordinal, attempt, name }: ToolStepKey): ToolReply | undefined {
  if (step.kind !== 'tool' || step.name !== name) {
    return { refused: `step ${ordinal} is recorded as ${step.kind} ${JSON.stringify(step.name)}` };
  }
  const isOfEarlier = step.status === 'failed' && (step.attempt ?? 0) < attempt;
  if (step.status === 'calling' || isOfEarlier) return undefined;
  const failed = parseFailure(step.result);
  return failed ? { failed } : { result: step.result };
}

const OUTCOME_UNKNOWN: ToolFailure = {
  code: 'outcome_unknown',
  message:
    'The outcome of this call is unknown: the service that made it stopped before a response arrived. Because the call may have taken effect, it is not repeated.',
};

async function prepareTool({ pool, prepare: prepareTool, log }: Deps, run: Run, call: ToolCall, place: ToolStepKey) {
  const { rehearsal } = run.spec;
  try {
    return await (rehearsal
      ? rehearseCall(pool, rehearsal, place, {
          isModelCall: call.connection === MODELS_CONNECTION,
          prepare: () => prepareTool(run, call),
        })
      : prepareTool(run, call));
  } catch (err) {
    if (isDependencyDown(err)) throw err;
    log.error({ err, runId: run.id, connection: call.connection }, 'tool call could not be prepared');
    return { failed: { code: 'unavailable', message: 'The platform could not prepare this call.' } as const };
  }
}

async function callTool(
  { log }: Deps,
  { call, isIdempotent: isRepeatable }: PreparedTool,
  emitText: (text: string) => void,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const outcome = await call(emitText, signal).catch((err): ToolOutcome => {
    log.error({ err }, 'tool call failed in the platform');
    const message = 'The call failed inside the platform; it may have taken effect.';
    return { failed: { code: 'outcome_unknown', message }, isFinal: !isRepeatable };
  });
  if ('failed' in outcome) return outcome;
  const bytes = Buffer.byteLength(JSON.stringify(outcome.result ?? null));
  if (bytes <= STEP_BYTES_MAX) return outcome;
  const message = `The result is ${bytes} bytes of JSON; the limit is ${STEP_BYTES_MAX}. Request less data by using arguments that select fields or pages.`;
  const { settle } = outcome;
  return { failed: { code: 'too_large', message }, isFinal: !isRepeatable, ...(settle && { settle }) };
}

/** The call is over: what came of it is lost only if it cannot be stored for long, or at all. */
async function storeOutcome(
  deps: Deps,
  { stepKey, startedAt, outcome }: { stepKey: ToolStepKey; startedAt: Date; outcome: ToolOutcome },
): Promise<void> {
  const { pool, log } = deps;
  const deadline = Date.now() + STORE_MS_MAX;
  for (;;) {
    try {
      await endToolCall(pool, stepKey, startedAt, outcome);
      return;
    } catch (err) {
      if (!isDependencyDown(err)) return endWithoutOutcome(deps, { place: stepKey, startedAt, outcome }, err);
      if (Date.now() >= deadline) throw err;
      log.warn({ err, runId: stepKey.runId }, 'the outcome of a tool call could not be stored: trying again');
      await delay(POLL_MS, undefined, { ref: false });
    }
  }
}

/** The database refuses the outcome, as it would each time: the call ends without it, and is booked if it can be. */
async function endWithoutOutcome(
  { pool, log }: Deps,
  { place, startedAt, outcome: { settle } }: { place: ToolStepKey; startedAt: Date; outcome: ToolOutcome },
  err: unknown,
): Promise<void> {
  const { runId } = place;
  log.error({ err, runId }, 'the outcome of a tool call could not be stored');
  const message = 'The outcome of this call could not be stored; the call may have taken effect.';
  await endToolCall(pool, place, startedAt, { failed: { code: 'outcome_unknown', message }, isFinal: true });
  if (settle)
    await transaction(pool, settle).catch((cause) =>
      log.error({ err: cause, runId }, 'could not record the usage of a tool call'),
    );
}
