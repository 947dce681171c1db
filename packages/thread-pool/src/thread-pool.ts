/**
 * Runs tasks whose cost depends on their input in separate threads, one task at a time in each. A task that exceeds its
 * time or memory ends its thread and fails; the next one gets a new thread. Threads start with the first tasks and keep
 * no process alive.
 */
import { Worker } from 'node:worker_threads';
import type { ThreadMessage } from './serve-tasks';

export interface ThreadLimits {
  threads: number;
  /** Time limit of one task, without the wait. */
  taskMs: number;
  /** Time limit of the wait. */
  waitMs: number;
  /** Heap limit of one thread. */
  heapMb: number;
}

/** `busy`: the task was not tried; `costly`: it exceeded a limit of its own; `failed`: its code threw. */
export type TaskOutcome<Result> = { result: Result } | { problem: string; reason: 'busy' | 'costly' | 'failed' };

export interface ThreadPool<Task, Result> {
  /** Never rejects. */
  run(task: Task): Promise<TaskOutcome<Result>>;
  stop(): Promise<void>;
}

interface Job<Task, Result> {
  task: Task;
  end(outcome: TaskOutcome<Result>): void;
}

interface Slot<Task, Result> {
  thread: Worker | null;
  isReady: boolean;
  job: Job<Task, Result> | null;
  timer: NodeJS.Timeout | undefined;
}

/** @param file built JavaScript, even if the service runs from its sources: a thread cannot be started from TypeScript */
export function createThreadPool<Task, Result>(file: string, limits: ThreadLimits): ThreadPool<Task, Result> {
  type OwnSlot = Slot<Task, Result>;
  const waiting: Job<Task, Result>[] = [];
  const slots = Array.from({ length: limits.threads }, (): OwnSlot => {
    return { thread: null, isReady: false, job: null, timer: undefined };
  });
  let isStopped = false;

  function start(slot: OwnSlot): void {
    const thread = new Worker(file, { resourceLimits: { maxOldGenerationSizeMb: limits.heapMb } });
    thread.unref();
    slot.thread = thread;
    thread.on('message', (message: ThreadMessage<Result>) => {
      if (slot.thread !== thread) return;
      if ('ready' in message) slot.isReady = true;
      else settle(slot, 'result' in message ? message : { ...message, reason: 'failed' });
      next();
    });
    thread.on('error', (err) => {
      if (slot.thread === thread) lose(slot, err.message);
    });
  }

  function settle(slot: OwnSlot, outcome: TaskOutcome<Result>): void {
    clearTimeout(slot.timer);
    slot.job?.end(outcome);
    slot.job = null;
  }

  /** Ends the thread, and fails its current task. */
  function lose(slot: OwnSlot, problem: string): void {
    const { thread, job } = slot;
    Object.assign(slot, { thread: null, isReady: false });
    void thread?.terminate();
    // If a thread cannot start, all waiting tasks fail: otherwise each would start another.
    if (!job) for (const one of waiting.splice(0)) one.end({ problem, reason: 'failed' });
    settle(slot, { problem, reason: 'costly' });
    next();
  }

  function next(): void {
    for (const slot of slots.filter(({ job, isReady }) => isReady && !job)) {
      // Bounded: once for each task, and a pool has a few threads.
      const job = waiting.shift();
      if (!job) return;
      slot.job = job;
      slot.timer = setTimeout(() => lose(slot, `took more than ${limits.taskMs} ms`), limits.taskMs);
      slot.thread?.postMessage(job.task);
    }
    const starting = slots.filter(({ thread, isReady }) => thread && !isReady).length;
    const idle = slots.filter(({ thread }) => !thread);
    for (const slot of idle.slice(0, Math.max(0, waiting.length - starting))) start(slot);
  }

  return {
    run: (task) =>
      new Promise((resolve) => {
        if (isStopped) return resolve(STOPPED);
        const patience = setTimeout(() => {
          const index = waiting.indexOf(job);
          if (index === -1) return;
          waiting.splice(index, 1);
          job.end({ problem: `waited more than ${limits.waitMs} ms`, reason: 'busy' });
        }, limits.waitMs);
        const job: Job<Task, Result> = {
          task,
          end: (outcome) => {
            clearTimeout(patience);
            resolve(outcome);
          },
        };
        waiting.push(job);
        next();
      }),
    async stop() {
      isStopped = true;
      for (const job of waiting.splice(0)) job.end(STOPPED);
      const threads = slots.map(({ thread }) => thread);
      for (const slot of slots) {
        Object.assign(slot, { thread: null, isReady: false });
        settle(slot, STOPPED);
      }
      await Promise.all(threads.map((thread) => thread?.terminate()));
    },
  };
}

const STOPPED = { problem: 'the service stops', reason: 'busy' } as const;
