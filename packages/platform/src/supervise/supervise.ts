/** A platform of processes: started in steps, each kept running, all stopped in reverse order. */
import fs from 'node:fs';
import path from 'node:path';
import type { LivenessTiming } from './liveness';
import { isAlive, type ProcessSpec, signalGroup } from './process';
import type { WriteLogLine } from './process-log';
import { claimProcessRecord } from './process-record';
import { type SupervisedProcess, supervise } from './supervised-process';

export type Supervisor = Awaited<ReturnType<typeof startSupervisor>>;

export interface SupervisorOptions {
  /** Holds `processes.json` and `logs/`. */
  dir: string;
  show: WriteLogLine;
  /** See claimProcessRecord. */
  parent?: number;
  /** See supervise. */
  liveness?: LivenessTiming;
}

/** @throws Error if another launcher works here. */
export async function startSupervisor(options: SupervisorOptions) {
  const record = await claimProcessRecord(path.join(options.dir, 'processes.json'), options.parent);
  const logs = path.join(options.dir, 'logs');
  fs.mkdirSync(logs, { recursive: true, mode: 0o700 });
  const steps: SupervisedProcess[][] = [];
  const pids = new Map<string, number>();
  let stopping = false;

  function killAll() {
    for (const pid of [...pids.values()].filter(isAlive)) signalGroup(pid, 'SIGKILL');
  }

  /**
   * Starts these side by side and resolves when all are ready. They form one step of the stopping order.
   * @returns the errors of optional ones that could not be started and will be tried again
   */
  async function start(...specs: ProcessSpec[]): Promise<Error[]> {
    if (stopping) throw new Error('the platform is stopping');
    const step: SupervisedProcess[] = [];
    steps.push(step);
    const started = specs.map(async (spec) => {
      const supervised = await supervise(spec, {
        logFile: path.join(logs, `${spec.name}.log`),
        show: options.show,
        liveness: options.liveness,
        onStart: (name, pid) => {
          pids.set(name, pid);
          record.add(name, pid, spec.stopSignal);
          // Its start was under way when the others were stopped.
          if (stopping) signalGroup(pid, 'SIGKILL');
        },
        onEnd: (name) => {
          pids.delete(name);
          record.remove(name);
        },
      });
      step.push(supervised);
      // An optional process that was killed while it started would be tried again.
      if (stopping) await supervised.stop();
    });
    // All of them, so that none is still starting when the caller hears of a failure and stops everything.
    const failed = (await Promise.allSettled(started)).find((outcome) => outcome.status === 'rejected');
    if (failed) throw failed.reason;
    return step.flatMap(({ startError = [] }) => startError);
  }

  return {
    start,
    /** Replaces one process, and resolves when the new one is ready. A name that was never started is left alone. */
    restart: async (name: string) =>
      steps
        .flat()
        .find((supervised) => supervised.name === name)
        ?.restart(),
    /** Last started, first stopped. */
    stop: async () => {
      stopping = true;
      for (const step of steps.reverse()) await Promise.all(step.map((supervised) => supervised.stop()));
      // Processes that were not ready yet are in no step.
      killAll();
    },
    /** Does not wait: SIGKILL for everything that was ever started and still lives. */
    kill: () => {
      stopping = true;
      for (const supervised of steps.flat()) supervised.kill();
      killAll();
    },
  };
}
