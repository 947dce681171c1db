/** One process that is started again, ever more slowly, for as long as it is wanted. */
import { setTimeout as sleep } from 'node:timers/promises';
import { setAlignedInterval } from '@gantry/env';
import { type LivenessTiming, livenessTiming, type Watch, watchLiveness } from './liveness';
import { type LogFile, openLogFile, shortenLog } from './log-file';
import { type ProcessSpec, type RunningProcess, startProcess, waitUntilReady } from './process';
import { captureOutput, type WriteLogLine } from './process-log';

export type SupervisedProcess = Awaited<ReturnType<typeof supervise>>;

export interface SuperviseOptions {
  logFile: string;
  show: WriteLogLine;
  onStart(name: string, pid: number): void;
  onEnd(name: string): void;
  /** Default: the platform's; tests are in a hurry. */
  liveness?: LivenessTiming;
}

const RESTART_MS = 200;
const RESTART_MS_MAX = 10_000;
/** The same for a process that has never answered: what it lacks may have to be installed. */
const [FIRST_RESTART_MS, FIRST_RESTART_MS_MAX] = [5_000, 5 * 60_000];
/** A process that has run this long, and answered its probe if it has one, restarts after the short delay again. */
const HEALTHY_MS = 30_000;
const OWN_LOGS_MS = 5_000;
/** Time that the log of a process that has ended stays open for output that is still in its pipes. */
const FINAL_OUTPUT_MS = 300;

/**
 * Resolves when the process is ready, or the first start of an optional one has failed and will be repeated.
 * @throws Error if the first start of another one fails; only later ones are repeated
 */
export async function supervise(spec: ProcessSpec, options: SuperviseOptions) {
  const { show, liveness: timing = livenessTiming } = options;
  const file = openLogFile(options.logFile);
  let wanted = true;
  let running: RunningProcess | undefined;
  let replaced: RunningProcess | undefined;
  let retry: NodeJS.Timeout | undefined;
  let [delayMs, delayMsMax] = [RESTART_MS, RESTART_MS_MAX];
  let startMs = timing.startMs;
  let watch: Watch | undefined;
  const ownLogs = setAlignedInterval(() => {
    for (const own of spec.ownLogs ?? []) shortenLog(own);
  }, OWN_LOGS_MS);

  async function launch(): Promise<RunningProcess> {
    const started = await startProcess(spec);
    options.onStart(spec.name, started.pid);
    logOutput(spec, started, file, show);
    void started.ended.then(() => options.onEnd(spec.name));
    running = started;
    return started;
  }

  function restartOnExit(started: RunningProcess) {
    const startedAt = Date.now();
    const watched = monitorLiveness(started);
    void started.ended.then(({ code, signal }) => {
      watched?.stop();
      if (!wanted || started === replaced) return;
      show(`${spec.name} exited with ${signal ?? `status ${code}`}; restarting it (see ${options.logFile})`);
      const hasAnswered = watched?.hasAnswered() ?? true;
      startMs = hasAnswered ? timing.startMs : Math.min(startMs * 2, timing.startMsMax);
      if (hasAnswered) delayMsMax = RESTART_MS_MAX;
      if (hasAnswered && Date.now() - startedAt > HEALTHY_MS) delayMs = RESTART_MS;
      scheduleRestart();
    });
  }

  function monitorLiveness(started: RunningProcess): Watch | undefined {
    if (!spec.liveness || !wanted) return undefined;
    const onSilent = (silentMs: number) => {
      const msg = `${spec.name} has not responded for ${Math.round(silentMs / 1_000)} s; replacing it`;
      show(`${msg} (see ${options.logFile})`);
      file.write(JSON.stringify({ level: 50, time: Date.now(), service: 'launcher', pid: started.pid, msg }));
      void started.stop(timing.graceMs);
    };
    watch = watchLiveness({ probe: spec.liveness, timing, startMs, onSilent });
    return watch;
  }

  function scheduleRestart() {
    retry = setTimeout(() => void restart(), delayMs);
    delayMs = Math.min(delayMs * 2, delayMsMax);
  }

  async function restart() {
    try {
      restartOnExit(await launch());
    } catch (err) {
      show(`${spec.name}: ${(err as Error).message}`);
      if (wanted) scheduleRestart();
    }
  }

  async function replace() {
    if (!wanted) return;
    clearTimeout(retry);
    delayMs = RESTART_MS;
    replaced = running;
    await running?.stop(timing.graceMs);
    const started = await launch();
    restartOnExit(started);
    await waitUntilReady(spec, started);
  }

  async function startFirst() {
    const first = await launch();
    try {
      await waitUntilReady(spec, first);
    } catch (err) {
      await first.kill();
      throw err;
    }
    restartOnExit(first);
  }

  function stopSupervising() {
    wanted = false;
    clearTimeout(retry);
    ownLogs.stop();
    watch?.stop();
  }

  async function stop() {
    stopSupervising();
    await running?.stop();
    await Promise.race([running?.silent, sleep(FINAL_OUTPUT_MS, undefined, { ref: false })]);
    await file.close();
  }

  let startError: Error | undefined;
  try {
    await startFirst();
  } catch (err) {
    startError = err as Error;
    if (!spec.isOptional) {
      stopSupervising();
      await file.close();
      throw err;
    }
    [delayMs, delayMsMax] = [FIRST_RESTART_MS, FIRST_RESTART_MS_MAX];
    scheduleRestart();
  }
  return {
    name: spec.name,
    /** Why the first start of an optional process failed. */
    startError,
    /** Resolves when the new process is ready. @throws Error if it is not; it is then tried again like one that ended. */
    restart: replace,
    stop,
    kill: () => {
      stopSupervising();
      void running?.kill();
    },
  };
}

function logOutput(spec: ProcessSpec, running: RunningProcess, file: LogFile, show: WriteLogLine): void {
  for (const output of [running.stdout, running.stderr]) {
    captureOutput({ name: spec.name, output, file, isAlarming: spec.isAlarming, show });
  }
}
