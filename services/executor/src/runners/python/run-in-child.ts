/**
 * Executes one run in one child: sends the job, reads its messages, enforces the limits that only the host can (time,
 * sizes, memory), and reports the outcome. Never throws for anything that the run does.
 */
import { availableParallelism, constants } from 'node:os';
import type { Job, JobCredential, RunLimits, Suspension } from '@gantry/events';
import type { Child, Exit } from '../../sandbox/child';
import { encodeFrame, encodeRawFrame } from '../../sandbox/frames';
import { CHANNEL_CLOSED, WALL_LIMIT } from '../../sandbox/kill-reasons';
import { watchMemory } from '../../sandbox/memory-watch';
import type { SandboxSpec } from '../../sandbox/settings';
import { waitForDrain } from '../../transfer/wait-for-drain';
import {
  clampCount,
  clampFraction,
  parseFields,
  parseMessage,
  parseOptionalText,
  parseText,
  throwUnexpected,
} from '../../untrusted/untrusted-values';
import { type ArtifactSink, MESSAGE_CHARS_MAX, NotStartedError, type RunHooks, type RunResult } from '../runner';

export interface SandboxJob
  extends Partial<Pick<Job, 'runId' | 'workspaceId' | 'attempt' | 'outputs' | 'steps' | 'may' | 'tools' | 'agent'>> {
  op: 'run' | 'inspect';
  entrypoint: string;
  inputs: Record<string, unknown>;
  /** Secrets by name: they reach the process only after it is sealed. */
  env?: Record<string, string>;
  files?: { input: string; name: string; size: number }[];
  outputBytes: number;
  egressNonce?: string;
  contexts?: { name: string; writeable: boolean }[];
  /** Connections with placeholders for tokens. */
  connections?: (Pick<JobCredential, 'name' | 'hosts' | 'baseUrl' | 'accountLabel' | 'scopes'> & {
    token: string;
  })[];
  /** Inspections: sources that are not in the code store. */
  draft?: { sources: { path: string; text: string }[]; modules: string[] };
}

export type Outcome =
  | { kind: 'returned'; json: Buffer }
  /** The run waits for this, and its process has exited cleanly. */
  | { kind: 'suspended'; suspension: Suspension }
  | {
      kind: 'raised';
      cause: 'exception' | 'cpu' | 'memory' | 'output';
      /** The reason of an agent's end. */
      code: unknown;
      type: string;
      message: string;
      trace: string;
      step: unknown;
    }
  /** Killed by the host, for one of the host's reasons. */
  | { kind: 'killed'; reason: string }
  | { kind: 'out_of_memory' | 'cpu' }
  /** It exited without a result, or violated the protocol. */
  | { kind: 'broken'; message: string };

export interface ChildResult extends Omit<RunResult, 'outcome'> {
  outcome: Outcome;
}

/** For messages other than the output: the harness truncates its own messages well below this. */
const MESSAGE_BYTES_MAX = 256 * 1024;
/** Same limit as in the harness, for one call of context.cost(). */
const COST_USD_MAX = 1e9;
/** The measured CPU time includes the creation of the child. */
const CPU_MS_BEFORE = 1_000;
const CORES = availableParallelism();
const RSS_KB_MAX = 2 ** 40;
/** Grace period for open logs after the result, before the processes that hold them are killed. */
const LOGS_GRACE_MS = 100;
const LOGS_GIVE_UP_MS = 1_500;

/** The untrusted message with the result. */
type ResultFrame = Record<string, unknown>;
type ChildReply = { answer: ResultFrame; json?: Buffer; suspension?: Suspension } | { broken: string };

/** @throws NotStartedError */
export async function runInChild(
  child: Child,
  request: {
    spec: SandboxSpec;
    job: SandboxJob;
    limits: Pick<RunLimits, 'wallMs' | 'memoryBytes' | 'processes'>;
    /** The code starts when this resolves with true. Absent: at once. */
    mayBegin?: Promise<boolean>;
  },
  hooks: RunHooks,
  /** Called when the result is complete but the logs are not: another run may take the slot meanwhile. */
  onResult: () => void = () => {},
): Promise<ChildResult> {
  const { spec, job, limits, mayBegin: canBegin } = request;
  child.cgroup?.limit(limits.memoryBytes + spec.tmpBytes, limits.processes + 8);
  child.onLog = (stream, chunk) => {
    try {
      hooks.onStream(stream, chunk);
    } catch (err) {
      child.kill(`its output could not be processed: ${(err as Error).message}`);
    }
  };
  const reply = readFrames(child, job, hooks);
  child.control?.write(encodeFrame(spec));
  // A child that exited on its own has sent its reason, which is handled below.
  if (canBegin && !(await Promise.race([canBegin, child.exited.then(() => !child.killedFor)]))) {
    child.kill('not started');
    throw new NotStartedError();
  }
  const startedAt = performance.now();
  if (child.state !== 'dead') child.control?.write(encodeFrame(job));
  const stopWatching = child.cgroup ? () => {} : watchMemory(child, limits.memoryBytes);
  const timer = setTimeout(() => child.kill(WALL_LIMIT), limits.wallMs);
  // A file that never arrives must not keep a run beyond its end.
  if (job.files?.length) await Promise.race([sendFiles(child, job.files, hooks), child.exited]);

  const exitedWithoutReply = child.exited.then(() => child.waitForControlEnd()).then(() => null);
  const last = await Promise.race([reply, exitedWithoutReply]);
  if (last && 'answer' in last) child.onAnswered?.();
  const wallMs = performance.now() - startedAt;
  clearTimeout(timer);
  stopWatching();
  if (!child.logsHaveEnded) {
    onResult();
    await waitForLogsEnd(child);
  }
  const gone = child.exited.then(() => child.close());
  if (last && 'answer' in last && !child.killedFor) {
    const { cpuMs, maxRssKb } = last.answer;
    const usage = {
      wallMs,
      cpuMs: clampCount(cpuMs, CPU_MS_BEFORE + wallMs * CORES),
      maxRssBytes: Math.round(clampCount(maxRssKb, RSS_KB_MAX) * 1024),
    };
    return { outcome: toOutcome(last), usage, gone };
  }
  if (last && 'broken' in last) child.kill(`protocol: ${last.broken}`);
  const exit = await child.exited;
  const usage = { wallMs, cpuMs: exit.cpuMs, maxRssBytes: exit.maxRssKb * 1024 };
  return { outcome: explainMissingResult(child, exit, spec, last), usage, gone };
}

/** Reads the control channel frame by frame until the result; each frame is handled before the next is read. */
function readFrames(child: Child, job: SandboxJob, hooks: RunHooks): Promise<ChildReply> {
  const { frames } = child;
  frames.limitBytes = MESSAGE_BYTES_MAX;
  return new Promise((resolve) => {
    let answer: ResultFrame | undefined;
    let sink: ArtifactSink | undefined;
    let suspension: Suspension | undefined;
    let missing = 0;
    let busy = false;

    const failWith = (message: string) => {
      sink?.abort();
      child.onControl = undefined;
      resolve({ broken: message });
    };

    function processFrames(): void {
      if (busy) return;
      try {
        for (let body = frames.next(); body; body = frames.next()) {
          const pending = handleFrame(body);
          if (!pending) continue;
          busy = true;
          child.control?.pause();
          pending.then(
            () => {
              busy = false;
              child.control?.resume();
              processFrames();
            },
            (err) => failWith(err.message),
          );
          return;
        }
      } catch (err) {
        failWith((err as Error).message);
      }
    }

    function handleFrame(body: Buffer): Promise<void> | undefined {
      if (answer) {
        child.onControl = undefined;
        resolve({ answer, json: body });
        return;
      }
      if (sink) return handleChunk(sink, body);
      const message = parseMessage(body);
      switch (message.t) {
        case 'result': {
          const { ok, outputBytes } = message;
          // The return value of a waiting run is ignored: it has requested to continue later.
          if (ok !== true || suspension) {
            child.onControl = undefined;
            resolve({ answer: message, ...(suspension && { suspension }) });
            return;
          }
          if (typeof outputBytes !== 'number' || !(outputBytes <= job.outputBytes))
            throw new Error('the output is too large');
          frames.limitBytes = job.outputBytes;
          answer = message;
          return;
        }
        case 'broken':
          failWith(`${parseText(message.step, 20)}: ${parseText(message.error, 2_000)}`);
          return;
        case 'log':
          hooks.onLog(parseText(message.level, 10), parseText(message.text, 100_000), parseFields(message.fields));
          return;
        case 'progress':
          hooks.onProgress(clampFraction(message.fraction), parseOptionalText(message.message, 1_000));
          return;
        case 'cost':
          hooks.onCost(clampCount(message.usd, COST_USD_MAX), parseOptionalText(message.label, 200));
          return;
        case 'agent':
          hooks.onAgent?.(parseText(message.part, 20), {
            name: parseOptionalText(message.name, 200),
            text: parseText(message.text, 20_000),
            call: parseOptionalText(message.call, 200),
          });
          return;
        case 'artifact':
        case 'context':
        case 'attachment':
          return openUpload(message);
        case 'step':
          return (
            hooks.onStep?.(message).then((reply) => void child.control?.write(encodeFrame(reply))) ??
            throwUnexpected(message)
          );
        case 'tool':
          return replyLater(hooks.onTool?.(message) ?? throwUnexpected(message));
        case 'tools':
          return replyLater(hooks.onTools?.(message) ?? throwUnexpected(message));
        case 'suspend': {
          const reply = hooks.onSuspend?.(message.suspension) ?? throwUnexpected(message);
          if ('suspension' in reply) suspension = reply.suspension;
          child.control?.write(encodeFrame('refused' in reply ? reply : { go: true }));
          return;
        }
        default:
          throwUnexpected(message);
      }
    }

    /** Replies when a tool is done, which may take long: frames of the code's other threads are read meanwhile. */
    function replyLater(reply: Promise<object>): undefined {
      reply.then(
        (answer) => void child.control?.write(encodeFrame(answer)),
        (err) => failWith(err.message),
      );
    }

    async function openUpload(message: Record<string, unknown>): Promise<void> {
      const size = message.size;
      if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0)
        throw new Error(`the ${message.t} has no valid size`);
      const opened = await openSink(message, size);
      const isSink = 'write' in opened;
      child.control?.write(encodeFrame(isSink ? { go: true } : opened));
      if (!isSink) return;
      sink = opened;
      missing = size;
      if (size === 0) await finishUpload(opened);
    }

    function openSink(message: Record<string, unknown>, size: number) {
      const [name, contentType] = [parseText(message.name, 255), parseText(message.contentType, 255)];
      if (message.t === 'artifact') return hooks.openArtifact({ name, contentType, size });
      if (message.t === 'context') return hooks.openContext?.({ name, size }) ?? throwUnexpected(message);
      return (
        hooks.openAttachment?.({ sha256: parseText(message.sha256, 64), contentType, size }) ?? throwUnexpected(message)
      );
    }

    function handleChunk(openSink: ArtifactSink, body: Buffer): Promise<void> | undefined {
      if (body[0] !== 0 || body.length < 2 || body.length - 1 > missing) throw new Error('unexpected data');
      missing -= body.length - 1;
      const written = openSink.write(body.subarray(1));
      if (missing > 0) return written || undefined;
      return Promise.resolve(written).then(() => finishUpload(openSink));
    }

    async function finishUpload(open: ArtifactSink): Promise<void> {
      const kept = await open.end();
      sink = undefined;
      child.control?.write(encodeFrame(kept));
    }

    child.onControl = processFrames;
    child.control?.once('close', () => {
      // Frames that arrived before the end are still valid; a truncated upload is not.
      processFrames();
      sink?.abort();
    });
    processFrames();
  });
}

async function sendFiles(child: Child, files: NonNullable<SandboxJob['files']>, hooks: RunHooks): Promise<void> {
  try {
    for (const [index, file] of files.entries()) {
      let left = file.size;
      for await (const chunk of (await hooks.openFile?.(index)) ?? []) {
        const piece = (chunk as Buffer).subarray(0, left);
        left -= piece.length;
        if (piece.length && child.control && !child.control.write(encodeRawFrame(piece)))
          await waitForDrain(child.control);
        if (child.state === 'dead') return;
      }
      if (left > 0) return child.kill(`input file ${file.name} could not be read completely`);
    }
  } catch (err) {
    child.kill(`input files could not be downloaded: ${(err as Error).message}`);
  }
}

/**
 * Waits until no process of the run holds its logs open. The harness closes its own before the result, so this is
 * usually immediate; processes left behind by the run are killed with it.
 */
async function waitForLogsEnd(child: Child): Promise<void> {
  const killer = setTimeout(() => child.kill('it left processes behind'), LOGS_GRACE_MS);
  let giveUp: NodeJS.Timeout | undefined;
  const killedForBefore = child.killedFor;
  await new Promise<void>((resolve) => {
    child.onLogEnd = () => child.logsHaveEnded && resolve();
    giveUp = setTimeout(resolve, LOGS_GIVE_UP_MS);
  });
  clearTimeout(killer);
  clearTimeout(giveUp);
  // Daemons that held the logs are not a failure of a run with a result.
  child.killedFor = killedForBefore;
}

function toOutcome({ answer, json, suspension }: Extract<ChildReply, { answer: ResultFrame }>): Outcome {
  if (json) return { kind: 'returned', json };
  const cause = (['cpu', 'memory', 'output'] as const).find((known) => known === answer.kind) ?? 'exception';
  // An exception during unwinding does not prevent suspension; running out of time or memory is a failure.
  if (suspension && (answer.ok === true || (cause !== 'cpu' && cause !== 'memory')))
    return { kind: 'suspended', suspension };
  return {
    kind: 'raised',
    cause,
    code: answer.code,
    type: parseText(answer.type, 200),
    message: parseText(answer.error, MESSAGE_CHARS_MAX),
    trace: parseText(answer.trace, 16_000),
    step: answer.step,
  };
}

function explainMissingResult(child: Child, exit: Exit, spec: SandboxSpec, last: ChildReply | null): Outcome {
  if (exit.oom) return { kind: 'out_of_memory' };
  if (last && 'broken' in last) return { kind: 'broken', message: last.broken };
  const isKilled = exit.status === -constants.signals.SIGKILL;
  const hasUsedCpu = exit.cpuMs >= spec.cpuSeconds * 1_000;
  // An exit closes the control channel too. If it is reported late, the run counts as killed for that first.
  const hasExitedFirst = child.killedFor === CHANNEL_CLOSED && (exit.error || !isKilled || hasUsedCpu);
  if (child.killedFor && !hasExitedFirst) return { kind: 'killed', reason: child.killedFor };
  if (exit.error) return { kind: 'broken', message: exit.error };
  if (isKilled) return { kind: hasUsedCpu ? 'cpu' : 'out_of_memory' };
  return { kind: 'broken', message: `the process ended with ${describeExit(exit.status)} before returning a result` };
}

const describeExit = (status: number) => (status < 0 ? `signal ${-status}` : `exit code ${status}`);
