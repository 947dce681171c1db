/**
 * Executes one run in one child: sends the job, reads its messages, enforces the limits that only the host can (time,
 * sizes, memory), and reports the outcome. Never throws for anything that the run does.
 */
import { availableParallelism } from 'node:os';
import type { JobAgent, JobCredential, JobTools, RecordedStep, Suspension } from '@gantry/events';
import type { Child, Exit } from '../../sandbox/child';
import { frame, rawFrame } from '../../sandbox/frames';
import { WALL_LIMIT } from '../../sandbox/kill-reasons';
import { watchMemory } from '../../sandbox/memory-watch';
import type { SandboxSpec } from '../../sandbox/settings';
import { drained } from '../../transfer/drained';
import { count, fieldsOf, fraction, optionalText, parseMessage, text, unexpected } from '../../untrusted/said-values';
import { type ArtifactSink, MESSAGE_CHARS_MAX, NotBegun, type RunHooks, type RunResult } from '../runner';

export interface SandboxJob {
  op: 'run' | 'inspect';
  entrypoint: string;
  inputs: Record<string, unknown>;
  /** Secrets by name: they reach the process only after it is sealed. */
  env?: Record<string, string>;
  files?: { input: string; name: string; size: number }[];
  outputs?: { name: string; type: string }[];
  outputBytes: number;
  egressNonce?: string;
  runId?: string;
  workspaceId?: string;
  attempt?: number;
  /** Steps recorded by earlier attempts. */
  steps?: RecordedStep[];
  may?: ('approve' | 'call')[];
  tools?: JobTools[];
  /** A model works on the skill, and the entrypoint is not code. */
  agent?: JobAgent;
  contexts?: { name: string; writeable: boolean }[];
  /** Connections with placeholders for tokens. */
  connections?: (Pick<JobCredential, 'name' | 'hosts' | 'baseUrl' | 'accountLabel' | 'scopes'> & {
    token: string;
  })[];
  /** Inspections: sources that are not in the code store. */
  draft?: { sources: { path: string; text: string }[]; modules: string[] };
}

export interface SandboxLimits {
  wallMs: number;
  memoryBytes: number;
  processes: number;
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

export interface Finished extends Omit<RunResult, 'outcome'> {
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

interface Answer {
  ok: boolean;
  kind: unknown;
  code: unknown;
  type: unknown;
  error: unknown;
  trace: unknown;
  step: unknown;
  cpuMs: unknown;
  maxRssKb: unknown;
}
type Said = { answer: Answer; json?: Buffer; suspension?: Suspension } | { broken: string };

/** @throws NotStarted */
export async function runInChild(
  child: Child,
  request: {
    spec: SandboxSpec;
    job: SandboxJob;
    limits: SandboxLimits;
    /** The code starts when this resolves with true. Absent: at once. */
    mayBegin?: Promise<boolean>;
  },
  hooks: RunHooks,
  /** Called when the result is complete but the logs are not: another run may take the slot meanwhile. */
  onAnswer: () => void = () => {},
): Promise<Finished> {
  const { spec, job, limits, mayBegin } = request;
  child.cgroup?.limit(limits.memoryBytes + spec.tmpBytes, limits.processes + 8);
  child.onLog = (stream, chunk) => {
    try {
      hooks.onStream(stream, chunk);
    } catch (err) {
      child.kill(`its output could not be processed: ${(err as Error).message}`);
    }
  };
  const said = listen(child, job, hooks);
  child.control?.write(frame(spec));
  // A child that exited on its own has sent its reason, which is handled below.
  if (mayBegin && !(await Promise.race([mayBegin, child.exited.then(() => !child.killedFor)]))) {
    child.kill('not started');
    throw new NotBegun();
  }
  const began = performance.now();
  if (child.state !== 'dead') child.control?.write(frame(job));
  const stopWatching = child.cgroup ? () => {} : watchMemory(child, limits.memoryBytes);
  const timer = setTimeout(() => child.kill(WALL_LIMIT), limits.wallMs);
  // A file that never arrives must not keep a run beyond its end.
  if (job.files?.length) await Promise.race([sendFiles(child, job.files, hooks), child.exited]);

  const unanswered = child.exited.then(() => child.allRead()).then(() => null);
  const last = await Promise.race([said, unanswered]);
  if (last && 'answer' in last) child.onAnswered?.();
  const wallMs = performance.now() - began;
  clearTimeout(timer);
  stopWatching();
  if (!child.logsHaveEnded) {
    onAnswer();
    await logsEnd(child);
  }
  const gone = child.exited.then(() => child.close());
  if (last && 'answer' in last && !child.killedFor) {
    const { cpuMs, maxRssKb } = last.answer;
    const usage = {
      wallMs,
      cpuMs: count(cpuMs, CPU_MS_BEFORE + wallMs * CORES),
      maxRssBytes: Math.round(count(maxRssKb, RSS_KB_MAX) * 1024),
    };
    return { outcome: answered(last), usage, gone };
  }
  if (last && 'broken' in last) child.kill(`protocol: ${last.broken}`);
  const exit = await child.exited;
  const usage = { wallMs, cpuMs: exit.cpuMs, maxRssBytes: exit.maxRssKb * 1024 };
  return { outcome: whyNoAnswer(child, exit, spec, last), usage, gone };
}

/** Reads the control channel frame by frame until the result; each frame is handled before the next is read. */
function listen(child: Child, job: SandboxJob, hooks: RunHooks): Promise<Said> {
  const { frames } = child;
  frames.limitBytes = MESSAGE_BYTES_MAX;
  return new Promise((resolve) => {
    let answer: Answer | undefined;
    let sink: ArtifactSink | undefined;
    let suspension: Suspension | undefined;
    let missing = 0;
    let busy = false;

    const broken = (message: string) => {
      sink?.abort();
      child.onControl = undefined;
      resolve({ broken: message });
    };

    function pump(): void {
      if (busy) return;
      try {
        for (let body = frames.next(); body; body = frames.next()) {
          const pending = take(body);
          if (!pending) continue;
          busy = true;
          child.control?.pause();
          pending.then(
            () => {
              busy = false;
              child.control?.resume();
              pump();
            },
            (err) => broken(err.message),
          );
          return;
        }
      } catch (err) {
        broken((err as Error).message);
      }
    }

    function take(body: Buffer): Promise<void> | undefined {
      if (answer) {
        child.onControl = undefined;
        resolve({ answer, json: body });
        return;
      }
      if (sink) return takePiece(sink, body);
      const message = parseMessage(body);
      switch (message.t) {
        case 'result': {
          const { ok, kind, code, type, error, trace, step, cpuMs, maxRssKb, outputBytes } = message;
          const known: Answer = { ok: ok === true, kind, code, type, error, trace, step, cpuMs, maxRssKb };
          // The return value of a waiting run is ignored: it has requested to continue later.
          if (ok !== true || suspension) {
            child.onControl = undefined;
            resolve({ answer: known, ...(suspension && { suspension }) });
            return;
          }
          if (typeof outputBytes !== 'number' || !(outputBytes <= job.outputBytes)) throw new Error('output too large');
          frames.limitBytes = job.outputBytes;
          answer = known;
          return;
        }
        case 'broken':
          broken(`${text(message.step, 20)}: ${text(message.error, 2_000)}`);
          return;
        case 'log':
          hooks.onLog(text(message.level, 10), text(message.text, 100_000), fieldsOf(message.fields));
          return;
        case 'progress':
          hooks.onProgress(fraction(message.fraction), optionalText(message.message, 1_000));
          return;
        case 'cost':
          hooks.onCost(count(message.usd, COST_USD_MAX), optionalText(message.label, 200));
          return;
        case 'agent':
          hooks.onAgent?.(text(message.part, 20), {
            ...{ name: optionalText(message.name, 200), text: text(message.text, 20_000) },
            call: optionalText(message.call, 200),
          });
          return;
        case 'artifact':
        case 'context':
        case 'attachment':
          return announce(message);
        case 'step':
          return (
            hooks.onStep?.(message).then((reply) => void child.control?.write(frame(reply))) ?? unexpected(message)
          );
        case 'tool':
          return answerLater(hooks.onTool?.(message) ?? unexpected(message));
        case 'tools':
          return answerLater(hooks.onTools?.(message) ?? unexpected(message));
        case 'suspend': {
          const reply = hooks.onSuspend?.(message.suspension) ?? unexpected(message);
          if ('suspension' in reply) suspension = reply.suspension;
          child.control?.write(frame('refused' in reply ? reply : { go: true }));
          return;
        }
        default:
          unexpected(message);
      }
    }

    /** Replies when a tool is done, which may take long: frames of the code's other threads are read meanwhile. */
    function answerLater(reply: Promise<object>): undefined {
      reply.then(
        (answer) => void child.control?.write(frame(answer)),
        (err) => broken(err.message),
      );
    }

    async function announce(message: Record<string, unknown>): Promise<void> {
      const size = message.size;
      if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0)
        throw new Error(`${message.t} without a size`);
      const opened = await opening(message, size);
      const isSink = 'write' in opened;
      child.control?.write(frame(isSink ? { go: true } : opened));
      if (!isSink) return;
      sink = opened;
      missing = size;
      if (size === 0) await finish(opened);
    }

    function opening(message: Record<string, unknown>, size: number) {
      const [name, contentType] = [text(message.name, 255), text(message.contentType, 255)];
      if (message.t === 'artifact') return hooks.openArtifact({ name, contentType, size });
      if (message.t === 'context') return hooks.openContext?.({ name, size }) ?? unexpected(message);
      return hooks.openAttachment?.({ sha256: text(message.sha256, 64), contentType, size }) ?? unexpected(message);
    }

    function takePiece(open: ArtifactSink, body: Buffer): Promise<void> | undefined {
      if (body[0] !== 0 || body.length < 2 || body.length - 1 > missing) throw new Error('not the announced data');
      missing -= body.length - 1;
      const written = open.write(body.subarray(1));
      if (missing > 0) return written || undefined;
      return Promise.resolve(written).then(() => finish(open));
    }

    async function finish(open: ArtifactSink): Promise<void> {
      const kept = await open.end();
      sink = undefined;
      child.control?.write(frame(kept));
    }

    child.onControl = pump;
    child.control?.once('close', () => {
      // Frames that arrived before the end are still valid; a truncated upload is not.
      pump();
      sink?.abort();
    });
    pump();
  });
}

async function sendFiles(child: Child, files: NonNullable<SandboxJob['files']>, hooks: RunHooks): Promise<void> {
  try {
    for (const [index, file] of files.entries()) {
      let left = file.size;
      for await (const chunk of (await hooks.openFile?.(index)) ?? []) {
        const piece = (chunk as Buffer).subarray(0, left);
        left -= piece.length;
        if (piece.length && child.control && !child.control.write(rawFrame(piece))) await drained(child.control);
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
async function logsEnd(child: Child): Promise<void> {
  const killer = setTimeout(() => child.kill('left processes behind'), LOGS_GRACE_MS);
  let giveUp: NodeJS.Timeout | undefined;
  const answeredBefore = child.killedFor;
  await new Promise<void>((resolve) => {
    child.onLogEnd = () => child.logsHaveEnded && resolve();
    giveUp = setTimeout(resolve, LOGS_GIVE_UP_MS);
  });
  clearTimeout(killer);
  clearTimeout(giveUp);
  // Daemons that held the logs are not a failure of a run with a result.
  child.killedFor = answeredBefore;
}

function answered({ answer, json, suspension }: Extract<Said, { answer: Answer }>): Outcome {
  if (answer.ok && json) return { kind: 'returned', json };
  const cause = (['cpu', 'memory', 'output'] as const).find((known) => known === answer.kind) ?? 'exception';
  // An exception during unwinding does not prevent suspension; running out of time or memory is a failure.
  if (suspension && (answer.ok || (cause !== 'cpu' && cause !== 'memory'))) return { kind: 'suspended', suspension };
  return {
    kind: 'raised',
    cause,
    code: answer.code,
    type: text(answer.type, 200),
    message: text(answer.error, MESSAGE_CHARS_MAX),
    trace: text(answer.trace, 16_000),
    step: answer.step,
  };
}

function whyNoAnswer(child: Child, exit: Exit, spec: SandboxSpec, last: Said | null): Outcome {
  if (exit.oom) return { kind: 'out_of_memory' };
  if (last && 'broken' in last) return { kind: 'broken', message: last.broken };
  if (child.killedFor) return { kind: 'killed', reason: child.killedFor };
  if (exit.error) return { kind: 'broken', message: exit.error };
  if (exit.status === -9) return { kind: exit.cpuMs >= spec.cpuSeconds * 1_000 ? 'cpu' : 'out_of_memory' };
  return { kind: 'broken', message: `the process ended with ${describeExit(exit.status)} and without a result` };
}

const describeExit = (status: number) => (status < 0 ? `signal ${-status}` : `exit code ${status}`);
