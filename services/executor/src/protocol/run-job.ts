/** Executes one job, from its arrival to its terminal event. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FailedStep, Job, RunError, Suspension, ToolWords } from '@gantry/events';
import { createRedactor, type createRedactorCache, maskWhereCut, type Redactor } from '@gantry/masking';
import { startSpan, traceFields } from '@gantry/tracing';
import type { Logger } from 'pino';
import type { Metrics } from '../host/metrics';
import { createRunLog, printable, type RunLog } from '../masking/log-lines';
import {
  MESSAGE_CHARS_MAX,
  NotBegun,
  type PreparedRun,
  type Runner,
  type RunOutcome,
  type RunProcess,
  type RunResult,
} from '../runners/runner';
import type { EventPublisher } from './event-publisher';
import { credentialValues, inputsOf, secretsOf } from './job-values';
import { createLiveReport } from './live-report';
import { answersFor } from './recorded-answers';
import { createRequestReport } from './request-report';
import { errorOf, UNREPORTABLE, wallLimit } from './run-errors';
import { hooksOf } from './run-hooks';
import { outputEvent, type RunUploads } from './run-output';
import { createSettlement } from './settlement';
import { createSpokenWords, type SpokenWords } from './spoken-words';
import { failedStepOf, recordedStepsOf, type StepRecords } from './steps';
import type { ToolCalls } from './tool-calls';

export interface RunJobDeps {
  publisher: Pick<EventPublisher, 'open'>;
  uploads: RunUploads;
  steps: StepRecords;
  tools: ToolCalls;
  redactorFor: ReturnType<typeof createRedactorCache>;
  metrics: Pick<Metrics, 'runs' | 'phase'>;
  log: Logger;
  /** False once this executor may no longer hold the run's lease: the run must not begin then. */
  mayStart(job: Job): boolean;
}

export type ActiveRun = ReturnType<typeof executeJob>;

/** Stops a run before it has a process; thrown through its preparation. */
class Stopped extends Error {}

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
interface RunText {
  redactor: Redactor;
  runLog: RunLog;
}

/** @param release called once, as soon as another run may take this one's slot. */
export function executeJob(job: Job, runner: Runner, deps: RunJobDeps, release: () => void) {
  const { metrics } = deps;
  const { runId, attempt, source, runner: name } = job;
  const span = startSpan('run', {
    kind: 'consumer',
    parent: job.traceparent,
    attributes: { 'gantry.run.id': runId, 'gantry.attempt': attempt, 'gantry.source': source, 'gantry.runner': name },
  });
  if (span) job.traceparent = span.traceparent;
  const log = job.traceparent ? deps.log.child(traceFields(job.traceparent)) : deps.log;
  const events = deps.publisher.open(job);
  const arrivedAt = performance.now();
  let started = false;
  let process: RunProcess | undefined;
  let spoken: SpokenWords | undefined;
  let leaveGone!: () => void;
  const gone = new Promise<void>((resolve) => {
    leaveGone = resolve;
  });
  const live = createLiveReport({
    emit: (event) => settlement.emit(event),
    onFailure: (err) => log.error({ runId: job.runId, attempt: job.attempt, err }, 'progress could not be reported'),
  });
  const settlement = createSettlement({
    ...{ job, events, live, release, metrics, span, log },
    process: () => process,
  });
  const { emit, endWithin, finish, guarded } = settlement;

  async function run() {
    let redactor: Redactor = createRedactor([]);
    let runLog: RunLog | undefined;
    try {
      const secrets = secretsOf(job);
      redactor = deps.redactorFor([...Object.values(secrets), ...credentialValues(job)]);
      runLog = createRunLog({
        redactor,
        bytesMax: job.limits.logBytes,
        emit: (line) => emit({ type: 'log', ...line }),
      });
      await carryOut(secrets, { redactor, runLog });
    } catch (err) {
      guarded(() => runLog?.end());
      if (settlement.verdict) return finish(settlement.verdict);
      if (err instanceof NotBegun) return finish({ status: 'returned' });
      log.warn({ runId: job.runId, err }, 'run could not be executed');
      let error = UNREPORTABLE;
      guarded(() => {
        const { code, message } = errorOf(err, started);
        error = { code, message: redactor.text(message) };
      });
      finish({ status: 'failed', error });
    }
  }

  async function carryOut(secrets: Record<string, string>, text: RunText) {
    const { redactor, runLog } = text;
    let prepared: PreparedRun | undefined;
    let result: RunResult | undefined;
    try {
      const report = createRequestReport({ redactor, runLog, emit });
      const answerTo = job.rehearsal && (await answersFor(job, redactor));
      prepared = await runner.prepare(job, {
        say(text) {
          runLog.platform(text);
          events.flush();
        },
        onRequest: (request) => guarded(() => report(request)),
        ...(answerTo && { answerTo }),
      });
      const inputs = await inputsOf(job);
      const recorded = await recordedStepsOf(job);
      if (settlement.verdict) throw new Stopped();
      const { begun, mayBegin } = await begin(prepared);
      const { uploads, steps, tools } = deps;
      const asked = { uploads, steps, tools };
      spoken = createSpokenWords({ redactor, emit });
      const hooks = hooksOf({
        job,
        recorded,
        ...text,
        live,
        settlement,
        process: () => process,
        spoken,
        ...asked,
        log,
      });
      result = await begun.run({ inputs, secrets, steps: recorded, mayBegin }, hooks, settlement.releaseSlot);
      void result.gone.then(leaveGone);
      await conclude(result, text);
    } finally {
      prepared?.close();
      if (!result) leaveGone();
    }
  }

  /**
   * Starts the process and stores `started`, without which code must not begin: otherwise another executor could start
   * the run again. Meanwhile the process prepares itself.
   */
  async function begin(prepared: PreparedRun): Promise<{ begun: RunProcess; mayBegin: Promise<boolean> }> {
    events.push({ type: 'started' });
    // After the process has begun to prepare itself, which takes longer.
    const stored = nextTurn().then(() => {
      events.flush();
      return events.stored();
    });
    stored.catch(() => {});
    const taken = prepared.start();
    const begun = taken instanceof Promise ? await taken : taken;
    process = begun;
    // It waits while nothing can be stored, as long as its lease is renewed: no other executor can start it either.
    settlement.waitFreely();
    const mayBegin = stored.then(() => {
      started = !settlement.verdict && deps.mayStart(job);
      metrics.phase.observe({ phase: 'prepare' }, (performance.now() - arrivedAt) / 1000);
      if (started) endWithin(job.limits.wallMs + OVERDUE_MS, { status: 'timed_out', error: wallLimit(job) });
      return started;
    });
    return { begun, mayBegin };
  }

  async function conclude({ outcome, usage }: RunResult, { redactor, runLog }: RunText) {
    metrics.phase.observe({ phase: 'run' }, usage.wallMs / 1000);
    runLog.end();
    if (settlement.verdict) return finish(settlement.verdict, usage);
    if (outcome.kind === 'returned') {
      const warn = (text: string) => runLog.platform(text, 'warning');
      const ending = outputEvent(job, outcome.json, redactor, deps.uploads, warn);
      if (!(ending instanceof Promise)) return finish(ending, usage);
      settlement.releaseSlot();
      endWithin(STORE_OUTPUT_MS_MAX, { status: 'failed', error: STORE_TIMEOUT });
      return finish(await ending, usage);
    }
    if (outcome.kind === 'suspended') {
      runLog.platform(waitsFor(outcome.suspension));
      return finish({ status: 'suspended', suspension: outcome.suspension }, usage);
    }
    const step =
      outcome.kind === 'failed' ? failedStepOf(outcome.step, redactor, Date.now() - usage.wallMs) : undefined;
    if (step) runLog.platform(failureLine(step), 'error');
    const error = { ...maskedError(job, outcome, redactor), ...(step && { step }) };
    finish({ status: error.code === 'timeout' ? 'timed_out' : 'failed', error }, usage);
  }

  endWithin(PREPARE_MS_MAX, { status: 'failed', error: PREPARE_TIMEOUT });
  void run();
  return {
    job,
    get started() {
      return started;
    },
    /** Cancels the run: it ends as cancelled, with the log so far. */
    cancel: () =>
      settlement.stop({ status: 'cancelled', error: { code: 'cancelled', message: 'The run was cancelled.' } }),
    /** Receives more streamed text of a model. */
    words: (told: ToolWords) => guarded(() => spoken?.words(told)),
    /** Ends the run without a report: it belongs to another executor now. */
    lose: settlement.lose,
    /** Returns it to the queue, if it has not started. @returns false if it has. */
    handBack(): boolean {
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

function waitsFor(suspension: Suspension): string {
  if (suspension.kind === 'sleep') return `Sleeping until ${new Date(suspension.wakeAt).toISOString()}.`;
  if (suspension.kind === 'approve') return `Waiting for approval: ${suspension.title}`;
  return `Waiting for a run of worker ${suspension.step.name}.`;
}

const failureLine = ({ ordinal, name, type, message }: FailedStep) =>
  `Step ${ordinal} (${name}) failed: ${type}: ${message}`.replace(/\s+/g, ' ').slice(0, FAILURE_LINE_CHARS_MAX);

function maskedError(
  job: Job,
  outcome: Extract<RunOutcome, { kind: 'failed' | 'out_of_time' }>,
  redactor: Redactor,
): RunError {
  const error = outcome.kind === 'failed' ? outcome.error : wallLimit(job);
  const masked = (text: string) => printable(redactor.text(text));
  return {
    ...error,
    message: printable(maskWhereCut(redactor, error.message, MESSAGE_CHARS_MAX)),
    ...(error.type && { type: masked(error.type) }),
    ...(error.trace && { trace: masked(error.trace) }),
  };
}
