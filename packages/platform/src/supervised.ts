/** One process that is started again, ever more slowly, for as long as it is wanted. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type LogFile, openLogFile } from './log-file';
import { type ProcessSpec, type RunningProcess, startProcess, untilReady } from './process';
import { keepOutput, type Show } from './process-log';

export interface Supervised {
  stop(): Promise<void>;
  kill(): void;
}

export interface SuperviseOptions {
  logFile: string;
  show: Show;
  onStart(name: string, pid: number): void;
  onEnd(name: string): void;
}

const RESTART_MS = 200;
const RESTART_MS_MAX = 10_000;
/** What has run this long is healthy again: its next failure starts from the short delay. */
const HEALTHY_MS = 30_000;
/** How long the log of a process that has ended stays open for what is still in its pipes. */
const LAST_WORDS_MS = 300;

/** Resolves when the process is ready. @throws Error if its first start fails; only later ones are repeated. */
export async function supervise(spec: ProcessSpec, options: SuperviseOptions): Promise<Supervised> {
  const { show } = options;
  const file = openLogFile(options.logFile);
  let wanted = true;
  let running: RunningProcess | undefined;
  let retry: NodeJS.Timeout | undefined;
  let delayMs = RESTART_MS;

  async function launch(): Promise<RunningProcess> {
    const started = await startProcess(spec);
    options.onStart(spec.name, started.pid);
    keepAll(spec, started, file, show);
    void started.ended.then(() => options.onEnd(spec.name));
    running = started;
    return started;
  }

  function restartWhenItEnds(started: RunningProcess) {
    const startedAt = Date.now();
    void started.ended.then(({ code, signal }) => {
      if (!wanted) return;
      show(`${spec.name} ended with ${signal ?? `status ${code}`}; starting it again (see ${options.logFile})`);
      if (Date.now() - startedAt > HEALTHY_MS) delayMs = RESTART_MS;
      restartLater();
    });
  }

  function restartLater() {
    retry = setTimeout(() => void restart(), delayMs);
    delayMs = Math.min(delayMs * 2, RESTART_MS_MAX);
  }

  async function restart() {
    try {
      restartWhenItEnds(await launch());
    } catch (err) {
      show(`${spec.name}: ${(err as Error).message}`);
      if (wanted) restartLater();
    }
  }

  async function stop() {
    wanted = false;
    clearTimeout(retry);
    await running?.stop();
    await Promise.race([running?.silent, sleep(LAST_WORDS_MS, undefined, { ref: false })]);
    await file.close();
  }

  const first = await launch();
  try {
    await untilReady(spec, first);
  } catch (err) {
    await first.kill();
    await file.close();
    throw err;
  }
  restartWhenItEnds(first);
  return {
    stop,
    kill: () => {
      wanted = false;
      clearTimeout(retry);
      void running?.kill();
    },
  };
}

function keepAll(spec: ProcessSpec, running: RunningProcess, file: LogFile, show: Show): void {
  for (const output of [running.stdout, running.stderr]) {
    keepOutput({ name: spec.name, output, file, isAlarming: spec.isAlarming, show });
  }
}
