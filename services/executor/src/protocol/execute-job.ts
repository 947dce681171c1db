/** Executes one job, from its arrival to its terminal event. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FailedStep, Job, LockedPackage, RunError, Suspension, ToolTextChunk } from '@gantry/events';
import { createRedactor, type createRedactorCache, maskPossiblyTruncated, type Redactor } from '@gantry/masking';
import { startSpan, toTraceFields } from '@gantry/tracing';
import type { Logger } from 'pino';
import type { Metrics } from '../host/metrics';
import { createRunLog, type RunLog, replaceNul } from '../masking/log-lines';
import {
  MESSAGE_CHARS_MAX,
  NotStartedError,
  type PreparedRun,
  type Runner,
  type RunOutcome,
  type RunProcess,
  type RunResult,
} from '../runners/runner';
import type { EventPublisher } from './event-publisher';
import { getSecrets, listCredentialValues, loadInputs } from './job-values';
import { createLiveReport } from './live-report';
import { createRecordedResponder } from './recorded-responses';
import { createRequestReport } from './request-report';
import { buildWallLimitError, toRunError, UNREPORTABLE } from './run-errors';
import { createRunHooks } from './run-hooks';
import { buildOutputEvent } from './run-output';
import type { ServiceRequests } from './service-requests';
import { createSettlement } from './settlement';
import { loadRecordedSteps, parseFailedStep } from './steps';
import { createStreamedText, type StreamedText } from './streamed-text';

export interface ExecuteJobDeps extends ServiceRequests {
  publisher: Pick<EventPublisher, 'open'>;
  redactorFor: ReturnType<typeof createRedactorCache>;
  metrics: Pick<Metrics, 'runs' | 'phase'>;
  log: Logger;
  /** False once this executor may no longer hold the run's lease: the run must not begin then. */
  canStart(job: Job): boolean;
}

export type ActiveRun = ReturnType<typeof executeJob>;

/** Stops a run before it has a process; thrown through its preparation. */
class RunStoppedError extends Error {}

/** More than every download and installation together may take. */
const PREPARE_MS_MAX = 15 * 60_000;
/** Grace period after the wall limit, at which the process is killed: by then it has exited and its logs have ended. */
const OVERDUE_MS = 10_000;
const FAILURE_LINE_CHARS_MAX = 1_000;
/** Limit of all attempts to store an output. */
const STORE_OUTPUT_MS_MAX = 120_000;

const PREPARE_TIMEOUT: RunError = {
  code: 'sandbox',
  message: `The run could not be prepared within ${PREPARE_MS_MAX / 60_000} minutes.`,
};
const STORE_TIMEOUT: RunError = {
  code: 'sandbox',
  message: `The output could not be stored within ${STORE_OUTPUT_MS_MAX / 1_000} s.`,
};

/** The filters of all text from a run. */
interface RunMasking {
  redactor: Redactor;
  runLog: RunLog;
}

/** @param release called once, as soon as another run may take this one's slot. */
export function executeJob(job: Job, runner: Runner, deps: ExecuteJobDeps, release: () => void) {
  const { metrics } = deps;
  const { runId, attempt, source, runner: name } = job;
  const span = startSpan('run', {
    kind: 'consumer',
    parent: job.traceparent,
    attributes: { 'gantry.run.id': runId, 'gantry.attempt': attempt, 'gantry.source': source, 'gantry.runner': name },
  });
  if (span) job.traceparent = span.traceparent;
  const log = job.traceparent ? deps.log.child(toTraceFields(job.traceparent)) : deps.log;
  const events = deps.publisher.open(job);
  const arrivedAt = performance.now();
  let started = false;
  let process: RunProcess | undefined;
  let streamedText: StreamedText | undefined;
  let resolveGone!: () => void;
  const gone = new Promise<void>((resolve) => {
    resolveGone = resolve;
  });
  const live = createLiveReport({
    emit: (event) => settlement.emit(event),
    onFailure: (err) => log.error({ runId: job.runId, attempt: job.attempt, err }, 'progress could not be reported'),
  });
  const settlement = createSettlement({
    job,
    events,
    live,
    release,
    metrics,
    span,
    log,
    process: () => process,
  });
  const { emit, endWithin, finish, runGuarded } = settlement;

  async function startExecution() {
    let redactor: Redactor = createRedactor([]);
    let runLog: RunLog | undefined;
    try {
      const secrets = getSecrets(job);
      redactor = deps.redactorFor([...Object.values(secrets), ...listCredentialValues(job)]);
      runLog = createRunLog({
        redactor,
        bytesMax: job.limits.logBytes,
        emit: (line) => emit({ type: 'log', ...line }),
      });
      await executeRun(secrets, { redactor, runLog });
    } catch (err) {
      runGuarded(() => runLog?.end());
      if (settlement.verdict) return finish(settlement.verdict);
      if (err instanceof NotStartedError) return finish({ status: 'returned' });
      log.warn({ runId: job.runId, err }, 'run could not be executed');
      let error = UNREPORTABLE;
      runGuarded(() => {
        const { code, message } = toRunError(err, started);
        error = { code, message: redactor.text(message) };
      });
      finish({ status: 'failed', error });
    }
  }

  async function executeRun(secrets: Record<string, string>, text: RunMasking) {
    const { redactor, runLog } = text;
    let prepared: PreparedRun | undefined;
    let result: RunResult | undefined;
    try {
      const report = createRequestReport({ redactor, runLog, emit });
      const answerTo = job.rehearsal && (await createRecordedResponder(job, redactor));
      prepared = await runner.prepare(job, {
        logProgress(text) {
          runLog.platform(text);
          events.flush();
        },
        ...(job.locks && {
          agreeOnLock: (platform: string, proposed: LockedPackage[] | null) =>
            deps.locks.agree(job, platform, proposed),
        }),
        onRequest: (request) => runGuarded(() => report(request)),
        ...(answerTo && { answerTo }),
      });
      const inputs = await loadInputs(job);
      const recorded = await loadRecordedSteps(job);
      if (settlement.verdict) throw new RunStoppedError();
      const { begun: startedRun, mayBegin: canBegin } = await startProcess(prepared);
      const { uploads, steps, tools } = deps;
      const asked = { uploads, steps, tools };
      streamedText = createStreamedText({ redactor, emit });
      const hooks = createRunHooks({
        job,
        recorded,
        ...text,
        live,
        settlement,
        process: () => process,
        streamedText,
        ...asked,
        log,
      });
      result = await startedRun.run({ inputs, secrets, steps: recorded, canBegin }, hooks, settlement.releaseSlot);
      void result.gone.then(resolveGone);
      await finishRun(result, text);
    } finally {
      prepared?.close();
      if (!result) resolveGone();
    }
  }

  /**
   * Starts the process and stores `started`, without which code must not begin: otherwise another executor could start
   * the run again. Meanwhile the process prepares itself.
   */
  async function startProcess(prepared: PreparedRun): Promise<{ begun: RunProcess; mayBegin: Promise<boolean> }> {
    events.push({ type: 'started' });
    // After the process has begun to prepare itself, which takes longer.
    const stored = nextTurn().then(() => {
      events.flush();
      return events.stored();
    });
    stored.catch(() => {});
    const starting = prepared.start();
    const startedRun = starting instanceof Promise ? await starting : starting;
    process = startedRun;
    // It waits while nothing can be stored, as long as its lease is renewed: no other executor can start it either.
    settlement.clearLimit();
    const canBegin = stored.then(() => {
      started = !settlement.verdict && deps.canStart(job);
      metrics.phase.observe({ phase: 'prepare' }, (performance.now() - arrivedAt) / 1000);
      if (started) endWithin(job.limits.wallMs + OVERDUE_MS, { status: 'timed_out', error: buildWallLimitError(job) });
      return started;
    });
    return { begun: startedRun, mayBegin: canBegin };
  }

  async function finishRun({ outcome, usage }: RunResult, { redactor, runLog }: RunMasking) {
    metrics.phase.observe({ phase: 'run' }, usage.wallMs / 1000);
    runLog.end();
    if (settlement.verdict) return finish(settlement.verdict, usage);
    if (outcome.kind === 'returned') {
      const warn = (text: string) => runLog.platform(text, 'warning');
      const ending = buildOutputEvent(job, outcome.json, redactor, deps.uploads, warn);
      if (!(ending instanceof Promise)) return finish(ending, usage);
      settlement.releaseSlot();
      endWithin(STORE_OUTPUT_MS_MAX, { status: 'failed', error: STORE_TIMEOUT });
      return finish(await ending, usage);
    }
    if (outcome.kind === 'suspended') {
      runLog.platform(describeWait(outcome.suspension));
      return finish({ status: 'suspended', suspension: outcome.suspension }, usage);
    }
    const step =
      outcome.kind === 'failed' ? parseFailedStep(outcome.step, redactor, Date.now() - usage.wallMs) : undefined;
    if (step) runLog.platform(formatFailure(step), 'error');
    const error = { ...maskError(job, outcome, redactor), ...(step && { step }) };
    finish({ status: error.code === 'timeout' ? 'timed_out' : 'failed', error }, usage);
  }

  endWithin(PREPARE_MS_MAX, { status: 'failed', error: PREPARE_TIMEOUT });
  void startExecution();
  return {
    job,
    get started() {
      return started;
    },
    /** Cancels the run: it ends as cancelled, with the log so far. */
    cancel: () =>
      settlement.stop({ status: 'cancelled', error: { code: 'cancelled', message: 'The run was cancelled.' } }),
    /** Receives more streamed text of a model. */
    words: (words: ToolTextChunk) => runGuarded(() => streamedText?.append(words)),
    /** Ends the run without a report: it belongs to another executor now. */
    lose: settlement.abandon,
    /** Returns it to the queue, if it has not started. @returns false if it has. */
    returnToQueue(): boolean {
      if (started) return false;
      settlement.stop({ status: 'returned' });
      return true;
    },
    /** Ends a started run that cannot continue here as failed, so that nothing waits for it. */
    giveUp: (message: string) => settlement.stop({ status: 'failed', error: { code: 'executor_lost', message } }),
    /** Resolves when the terminal event has been queued. */
    settled: settlement.settled,
    /** Resolves when its processes and files are removed from this machine. */
    gone,
  };
}

function describeWait(suspension: Suspension): string {
  if (suspension.kind === 'sleep') return `Sleeping until ${new Date(suspension.wakeAt).toISOString()}.`;
  if (suspension.kind === 'approve') return `Waiting for approval: ${suspension.title}`;
  return `Waiting for a run of worker ${suspension.step.name}.`;
}

const formatFailure = ({ ordinal, name, type, message }: FailedStep) =>
  `Step ${ordinal} (${name}) failed: ${type}: ${message}`.replace(/\s+/g, ' ').slice(0, FAILURE_LINE_CHARS_MAX);

function maskError(
  job: Job,
  outcome: Extract<RunOutcome, { kind: 'failed' | 'out_of_time' }>,
  redactor: Redactor,
): RunError {
  const error = outcome.kind === 'failed' ? outcome.error : buildWallLimitError(job);
  const maskText = (text: string) => replaceNul(redactor.text(text));
  return {
    ...error,
    message: replaceNul(maskPossiblyTruncated(redactor, error.message, MESSAGE_CHARS_MAX)),
    ...(error.type && { type: maskText(error.type) }),
    ...(error.trace && { trace: maskText(error.trace) }),
  };
}
