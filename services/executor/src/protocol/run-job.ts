/** One job from its arrival to its terminal event. */

import type { Job, RunError } from '@gantry/events';
import type { Logger } from 'pino';
import type { Dependencies } from '../dependencies/dependencies';
import type { EgressProxy } from '../egress/proxy';
import type { Metrics } from '../host/metrics';
import { errorOf, explain, wallLimit } from '../runners/python/explain-outcome';
import { type Finished, NotBegun, runInChild } from '../runners/python/run-in-child';
import { fetchInputs, sandboxJobOf, secretsOf, specOf } from '../runners/python/run-request';
import type { Child } from '../sandbox/child';
import type { Isolation, Sandbox } from '../sandbox/sandbox';
import type { CodeStore } from '../store/code-store';
import type { ContextStore } from '../store/context-store';
import { getStream } from '../transfer/object-transfer';
import { artifactsOf } from './artifacts';
import { changedContextsOf } from './changed-contexts';
import type { EventPublisher, NewRunEvent } from './event-publisher';
import { createRunLog, printable, type RunLog } from './masking/log-lines';
import { createRedactor, type Redactor } from './masking/redact';
import type { createRedactorCache } from './masking/redactor-cache';
import { outputEvent, type RunUploads } from './run-output';
import { fetchSteps, type StepRecords, stepsOf } from './steps';

export interface RunJobDeps {
  sandbox: Sandbox;
  code: CodeStore;
  contexts: ContextStore;
  dependencies: Dependencies;
  egress: EgressProxy;
  publisher: EventPublisher;
  uploads: RunUploads;
  steps: StepRecords;
  redactorFor: ReturnType<typeof createRedactorCache>;
  isolation: Isolation;
  metrics: Metrics;
  log: Logger;
  /** False once nobody may believe any more that this executor holds the run: it must not begin then. */
  mayStart(job: Job): boolean;
}

export interface ActiveRun {
  readonly job: Job;
  readonly started: boolean;
  /** Somebody asked for it to stop: it ends as cancelled, with the log so far. */
  cancel(): void;
  /** It belongs to another executor now: it ends and says nothing. */
  lose(): void;
  /** Back to the queue, if it has not started. @returns false when it has. */
  handBack(): boolean;
  /** It has started and can't go on here: it ends as failed, so that nobody waits for it. */
  giveUp(message: string): void;
  /** Resolves when the terminal event has been handed over. */
  readonly settled: Promise<void>;
  /** Resolves when nothing of it is left on this machine. */
  readonly gone: Promise<void>;
}

/** Stops a run before it has a process; thrown through its preparation. */
class Stopped extends Error {}

/** Of the egress proxy, in both directions together. */
const EGRESS_BYTES_MAX = 1 << 30;
/** A run that reports its progress in a tight loop is heard this often. */
const PROGRESS_MS = 50;
const COST_EVENTS_MAX = 1_000;
const COST_USD_MAX = 1e12;
/** More than every download and installation together may take. */
const PREPARE_MS_MAX = 15 * 60_000;
/** Beyond the wall limit, at which the process is killed: by then it is gone and its logs have ended. */
const OVERDUE_MS = 10_000;
/** A process that was told to stop is gone by then. */
const STOP_MS_MAX = 5_000;
/** All tries to store an output. */
const STORE_OUTPUT_MS_MAX = 120_000;

const NO_USAGE = { wallMs: 0, cpuMs: 0, maxRssBytes: 0 };
const PREPARE_TIMEOUT: RunError = {
  code: 'sandbox',
  message: `The run could not be prepared within ${PREPARE_MS_MAX / 60_000} minutes.`,
};
const STORE_TIMEOUT: RunError = {
  code: 'sandbox',
  message: `The output could not be stored within ${STORE_OUTPUT_MS_MAX / 1_000} s.`,
};
const UNREPORTABLE: RunError = { code: 'sandbox', message: 'The run ended, and its result could not be written.' };
type Ending = Omit<Extract<NewRunEvent, { type: 'finished' }>, 'type' | 'usage'>;

/** @param release is called once, as soon as another run may take this one's slot. */
export function startRun(job: Job, deps: RunJobDeps, release: () => void): ActiveRun {
  const events = deps.publisher.open(job);
  const arrivedAt = performance.now();
  let started = false;
  let finished = false;
  let lost = false;
  let child: Child | undefined;
  let costUsd = 0;
  /** Decided from outside; stands above whatever the process says. */
  let verdict: Ending | undefined;
  let released = false;
  let leaveGone!: () => void;
  const gone = new Promise<void>((resolve) => {
    leaveGone = resolve;
  });
  let settle!: () => void;
  const settled = new Promise<void>((resolve) => {
    settle = resolve;
  });
  let progress: Extract<NewRunEvent, { type: 'progress' }> | undefined;
  let progressTimer: NodeJS.Timeout | undefined;
  let costEvents = 0;
  let watchdog: NodeJS.Timeout | undefined;

  /** Nothing follows the terminal event, whatever is still being cleared away. */
  function emit(event: NewRunEvent) {
    if (!finished) events.push(event);
  }

  /** Ends the run in time whatever the rest of this file waits for: its slot and its lease belong to others as well. */
  function endWithin(ms: number, ending: Ending) {
    clearTimeout(watchdog);
    if (finished) return;
    watchdog = setTimeout(() => {
      deps.log.error({ runId: job.runId, attempt: job.attempt, ending, afterMs: ms }, 'run did not end by itself');
      child?.kill('did not end in time');
      finish(verdict ?? ending);
    }, ms);
  }

  function emitProgress() {
    clearTimeout(progressTimer);
    progressTimer = undefined;
    if (progress) emit(progress);
    progress = undefined;
  }

  function releaseOnce() {
    if (released) return;
    released = true;
    release();
  }

  function stop(ending: Ending) {
    if (finished || verdict) return;
    verdict = ending;
    // Whatever is being prepared ends by itself, and then finds the verdict.
    if (!child) return finish(ending);
    endWithin(STOP_MS_MAX, ending);
    child.kill('stopped by the executor');
  }

  /** A failure in one part of a run's end must not prevent the others. */
  function attempt(deed: () => void) {
    try {
      deed();
    } catch (err) {
      deps.log.error({ runId: job.runId, attempt: job.attempt, err }, 'the end of a run went wrong');
    }
  }

  /** Gives slot and lease back whatever happens on the way. */
  function finish(ending: Ending, usage = NO_USAGE) {
    if (finished) return;
    clearTimeout(watchdog);
    attempt(emitProgress);
    finished = true;
    try {
      if (!lost) attempt(() => report(ending, usage));
      deps.metrics.runs.inc({ source: job.source, status: ending.status, code: ending.error?.code ?? '' });
    } finally {
      attempt(releaseOnce);
      settle();
    }
  }

  function report(ending: Ending, usage: typeof NO_USAGE) {
    const whole = { ...usage, costUsd };
    try {
      events.push({ type: 'finished', ...ending, usage: whole });
    } catch (err) {
      deps.log.error({ runId: job.runId, err }, 'the result of a run could not be written');
      events.push({ type: 'finished', status: 'failed', error: UNREPORTABLE, usage: whole });
    }
    events.flush();
  }

  async function run() {
    let redactor: Redactor = createRedactor([]);
    let runLog: RunLog | undefined;
    try {
      const secrets = secretsOf(job);
      redactor = deps.redactorFor(Object.values(secrets));
      runLog = createRunLog({
        redactor,
        bytesMax: job.limits.logBytes,
        emit: (line) => emit({ type: 'log', ...line }),
      });
      const settings = { secrets, redactor, runLog };
      await prepareAndRun(settings);
    } catch (err) {
      attempt(() => runLog?.end());
      if (verdict) return finish(verdict);
      if (err instanceof NotBegun) return finish({ status: 'returned' });
      deps.log.warn({ runId: job.runId, err }, 'run could not be carried out');
      let error = UNREPORTABLE;
      attempt(() => {
        const { code, message } = errorOf(err, started);
        error = { code, message: redactor.text(message) };
      });
      finish({ status: 'failed', error });
    }
  }

  async function prepareAndRun({
    secrets,
    redactor,
    runLog,
  }: {
    secrets: Record<string, string>;
    redactor: Redactor;
    runLog: RunLog;
  }) {
    const network = job.kind === 'run' && job.network === 'egress';
    const unpin: (() => void)[] = [];
    const pass = network
      ? deps.egress.admit({
          bytesMax: EGRESS_BYTES_MAX,
          onDenied: (target) => deniedLine(runLog, redactor.text(target)),
        })
      : undefined;
    let handedOver = false;
    try {
      const pinned = deps.code.pin(job.code);
      if (pinned) await pinned;
      unpin.push(() => deps.code.unpin(job.code));
      for (const context of job.contexts ?? []) {
        await deps.contexts.pin(context);
        unpin.push(() => deps.contexts.unpin(context));
      }
      let depsDigest: string | null = null;
      if (job.dependencies.length) {
        const set = await deps.dependencies.pin(job.dependencies, (text) => {
          runLog.platform(text);
          events.flush();
        });
        depsDigest = set.digest;
        unpin.push(set.unpin);
      }
      const inputs = job.inputs ?? (job.inputsUrl ? await fetchInputs(job.inputsUrl) : {});
      const recorded = job.steps ?? (job.stepsUrl ? await fetchSteps(job.stepsUrl) : []);
      const spec = specOf(job, depsDigest, network);
      if (verdict) throw new Stopped();
      // Nobody may take the run for not started once its code can have begun: this is stored first. Meanwhile the child
      // makes itself ready.
      events.push({ type: 'started' });
      events.flush();
      const stored = events.stored();
      const taken = deps.sandbox.acquire(isolationOf(job, deps), spec);
      child = taken instanceof Promise ? await taken : taken;
      // It waits for as long as nothing can be stored and its lease is renewed: elsewhere it could not begin either.
      if (!verdict) clearTimeout(watchdog);
      const mayBegin = stored.then(() => {
        started = !verdict && deps.mayStart(job);
        deps.metrics.phase.observe({ phase: 'prepare' }, (performance.now() - arrivedAt) / 1000);
        if (started) endWithin(job.limits.wallMs + OVERDUE_MS, { status: 'timed_out', error: wallLimit(job) });
        return started;
      });
      const result = await runInChild(
        child,
        { spec, job: sandboxJobOf(job, inputs, secrets, pass?.nonce, recorded), limits: job.limits, mayBegin },
        {
          onStream: runLog.write,
          onLog: runLog.record,
          onProgress(fraction, message) {
            progress = {
              type: 'progress',
              fraction,
              message: message === null ? null : printable(redactor.text(message)),
            };
            progressTimer ??= setTimeout(() => attempt(emitProgress), PROGRESS_MS);
          },
          onCost(usd, label) {
            costUsd = Math.min(costUsd + usd, COST_USD_MAX);
            const shown = label === null ? null : printable(redactor.text(label));
            if (++costEvents <= COST_EVENTS_MAX) emit({ type: 'cost', usd, label: shown });
          },
          openArtifact: artifactsOf(job, deps.uploads, redactor, emit),
          openContext: changedContextsOf(job, deps.uploads, emit),
          ...stepsOf({
            ...{ job, recorded, redactor, emit },
            records: deps.steps,
            isOver: () => finished || lost || verdict !== undefined || child?.state === 'dead',
            onRetry: (err) => deps.log.warn({ runId: job.runId, err }, 'step not recorded yet: asking again'),
          }),
          openFile: async (index) => getStream(job.files[index]?.url ?? ''),
        },
        releaseOnce,
      );
      handedOver = true;
      void result.gone.then(() => {
        for (const each of unpin) each();
        leaveGone();
      });
      await conclude(result, redactor, runLog);
    } finally {
      pass?.revoke();
      if (!handedOver) {
        child?.kill('not carried out');
        for (const each of unpin) each();
        leaveGone();
      }
    }
  }

  async function conclude({ outcome, usage }: Finished, redactor: Redactor, runLog: RunLog) {
    const seconds = usage.wallMs / 1000;
    deps.metrics.phase.observe({ phase: 'run' }, seconds);
    runLog.end();
    if (verdict) return finish(verdict, usage);
    if (outcome.kind === 'returned') {
      const ending = outputEvent(job, outcome.json, redactor, deps.uploads, (text) => runLog.platform(text, 'warning'));
      if (!(ending instanceof Promise)) return finish(ending, usage);
      releaseOnce();
      endWithin(STORE_OUTPUT_MS_MAX, { status: 'failed', error: STORE_TIMEOUT });
      return finish(await ending, usage);
    }
    if (outcome.kind === 'suspended') return finish({ status: 'suspended', suspension: outcome.suspension }, usage);
    const error = explain(outcome, job);
    const masked: RunError = {
      ...error,
      message: printable(redactor.text(error.message)),
      ...(error.type && { type: printable(redactor.text(error.type)) }),
      ...(error.trace && { trace: printable(redactor.text(error.trace)) }),
    };
    finish({ status: error.code === 'timeout' ? 'timed_out' : 'failed', error: masked }, usage);
  }

  endWithin(PREPARE_MS_MAX, { status: 'failed', error: PREPARE_TIMEOUT });
  void run();
  return {
    job,
    get started() {
      return started;
    },
    cancel: () => stop({ status: 'cancelled', error: { code: 'cancelled', message: 'The run was cancelled.' } }),
    lose() {
      lost = true;
      events.abandon();
      stop({ status: 'failed' });
    },
    handBack() {
      if (started) return false;
      stop({ status: 'returned' });
      return true;
    },
    giveUp: (message) => stop({ status: 'failed', error: { code: 'executor_lost', message } }),
    settled,
    gone,
  };
}

const deniedLine = (runLog: RunLog, target: string) =>
  runLog.platform(`Connection to ${printable(target)} refused: it is not a public address.`, 'warning');

const isolationOf = (job: Job, deps: RunJobDeps): Isolation =>
  deps.isolation === 'process' ? 'process' : job.isolation;
