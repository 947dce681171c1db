/**
 * Ends a run exactly once: the terminal event is queued, then slot and lease are released, whatever happens to the
 * process, to the service or in between.
 */
import type { Job } from '@gantry/events';
import type { Span } from '@gantry/tracing';
import type { Logger } from 'pino';
import type { Metrics } from '../host/metrics';
import type { RunProcess, RunResult } from '../runners/runner';
import type { NewRunEvent, RunEvents } from './event-publisher';
import type { LiveReport } from './live-report';
import { UNREPORTABLE } from './run-errors';

export type FinishedPayload = Omit<Extract<NewRunEvent, { type: 'finished' }>, 'type' | 'usage'>;

/** A process that was told to stop has exited by then. */
const STOP_MS_MAX = 5_000;
const NO_USAGE = { wallMs: 0, cpuMs: 0, maxRssBytes: 0 };

export type Settlement = ReturnType<typeof createSettlement>;

export function createSettlement(options: {
  job: Job;
  events: RunEvents;
  live: Pick<LiveReport, 'flush' | 'costUsd'>;
  /** Undefined while there is none. */
  process(): Pick<RunProcess, 'kill'> | undefined;
  /** Called once, as soon as another run may take this one's slot. */
  release(): void;
  metrics: Pick<Metrics, 'runs'>;
  span?: Span | undefined;
  log: Logger;
}) {
  const { job, events, live, log } = options;
  let verdict: FinishedPayload | undefined;
  let finished = false;
  let lost = false;
  let released = false;
  let watchdog: NodeJS.Timeout | undefined;
  let resolveSettled!: () => void;
  const settled = new Promise<void>((resolve) => {
    resolveSettled = resolve;
  });

  /** Runs a cleanup action that must not prevent the others at a run's end: logs its exceptions. */
  function runGuarded(action: () => void) {
    try {
      action();
    } catch (err) {
      log.error({ runId: job.runId, attempt: job.attempt, err }, 'an action at the end of a run failed');
    }
  }

  /** Limits the remaining time of the run, whatever it is waiting for. Replaces an earlier limit. */
  function endWithin(ms: number, ending: FinishedPayload) {
    clearTimeout(watchdog);
    if (finished) return;
    watchdog = setTimeout(() => {
      log.error({ runId: job.runId, attempt: job.attempt, ending, afterMs: ms }, 'run did not end in time');
      options.process()?.kill('it did not finish in time');
      finish(verdict ?? ending);
    }, ms);
  }

  /** Decides the ending from outside. The process is killed and gets a moment to exit. */
  function stop(ending: FinishedPayload) {
    if (finished || verdict) return;
    verdict = ending;
    const process = options.process();
    // Any preparation in progress completes on its own, and then sees the verdict.
    if (!process) return finish(ending);
    endWithin(STOP_MS_MAX, ending);
    process.kill('the executor stopped it');
  }

  /** Another run may take the slot. */
  function releaseSlot() {
    if (released) return;
    released = true;
    options.release();
  }

  function finish(ending: FinishedPayload, usage: RunResult['usage'] = NO_USAGE) {
    if (finished) return;
    clearTimeout(watchdog);
    runGuarded(live.flush);
    finished = true;
    try {
      if (!lost) runGuarded(() => pushFinishedEvent(ending, usage));
      const { status } = ending;
      const code = ending.error?.code ?? '';
      options.metrics.runs.inc({ source: job.source, status, code });
      options.span?.end({ failed: code !== '', attributes: { 'gantry.status': status, 'gantry.error.code': code } });
    } finally {
      runGuarded(releaseSlot);
      resolveSettled();
    }
  }

  function pushFinishedEvent(ending: FinishedPayload, usage: RunResult['usage']) {
    const fullUsage = { ...usage, costUsd: live.costUsd() };
    try {
      events.push({ type: 'finished', ...ending, usage: fullUsage });
    } catch (err) {
      log.error({ runId: job.runId, err }, 'the result of a run could not be written');
      events.push({ type: 'finished', status: 'failed', error: UNREPORTABLE, usage: fullUsage });
    }
    events.flush();
  }

  return {
    /** The external decision, which overrides the code's own result. */
    get verdict() {
      return verdict;
    },
    /** Returns true once the code can no longer affect the result. */
    isOver: () => finished || lost || verdict !== undefined,
    /** Emits an event; nothing follows the terminal event, even while cleanup continues. */
    emit(event: NewRunEvent) {
      if (!finished) events.push(event);
    },
    /** Removes the limit of endWithin(), unless a verdict has set it. */
    clearLimit() {
      if (!verdict) clearTimeout(watchdog);
    },
    /** Ends the run without a report: it belongs to another executor now. */
    abandon() {
      lost = true;
      events.abandon();
      stop({ status: 'failed' });
    },
    endWithin,
    stop,
    finish,
    releaseSlot,
    runGuarded,
    /** Resolves when the terminal event has been queued. */
    settled,
  };
}
