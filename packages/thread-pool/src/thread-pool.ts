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

/** A thread that has not loaded its code by then never will. */
const START_MS_MAX = 60_000;

/** `busy`: the task was not tried; `costly`: it exceeded a limit of its own; `failed`: its code threw. */
export type TaskOutcome<Result> = { result: Result } | { problem: string; reason: 'busy' | 'costly' | 'failed' };

export type ThreadPool<Task, Result> = ReturnType<typeof createThreadPool<Task, Result>>;

interface Job<Task, Result> {
  task: Task;
  settle(outcome: TaskOutcome<Result>): void;
}

interface Slot<Task, Result> {
  thread: Worker | null;
  isReady: boolean;
  job: Job<Task, Result> | null;
  /** Limits the task, or the start of the thread. */
  timer: NodeJS.Timeout | undefined;
}

/**
 * @param file built JavaScript, even if the service runs from its sources: a thread cannot be started from TypeScript
 */
export function createThreadPool<Task, Result>(file: string, limits: ThreadLimits) {
  type OwnSlot = Slot<Task, Result>;
  const waiting: Job<Task, Result>[] = [];
  const slots = Array.from({ length: limits.threads }, (): OwnSlot => {
    return { thread: null, isReady: false, job: null, timer: undefined };
  });
  let isStopped = false;

  function startThread(slot: OwnSlot): void {
    const thread = new Worker(file, { resourceLimits: { maxOldGenerationSizeMb: limits.heapMb } });
    thread.unref();
    slot.thread = thread;
    slot.timer = setTimeout(() => handleThreadFailure(slot, `did not start within ${START_MS_MAX} ms`), START_MS_MAX);
    slot.timer.unref();
    thread.on('message', (message: ThreadMessage<Result>) => {
      if (slot.thread !== thread) return;
      if ('ready' in message) {
        clearTimeout(slot.timer);
        slot.isReady = true;
      } else settleJob(slot, 'result' in message ? message : { ...message, reason: 'failed' });
      dispatch();
    });
    thread.on('error', (err) => {
      if (slot.thread === thread) handleThreadFailure(slot, err.message);
    });
    // Without an error, if its file ends before it serves tasks.
    thread.on('exit', (code) => {
      if (slot.thread === thread) handleThreadFailure(slot, `exited with code ${code}`);
    });
  }

  function settleJob(slot: OwnSlot, outcome: TaskOutcome<Result>): void {
    clearTimeout(slot.timer);
    slot.job?.settle(outcome);
    slot.job = null;
  }

  /** Ends the thread, and fails its current task. */
  function handleThreadFailure(slot: OwnSlot, problem: string): void {
    const { thread, job } = slot;
    Object.assign(slot, { thread: null, isReady: false });
    void thread?.terminate();
    // If a thread cannot start, all waiting tasks fail: otherwise each would start another.
    if (!job) for (const one of waiting.splice(0)) one.settle({ problem, reason: 'failed' });
    settleJob(slot, { problem, reason: 'costly' });
    dispatch();
  }

  function dispatch(): void {
    for (const slot of slots.filter(({ job, isReady }) => isReady && !job)) {
      // Bounded: once for each task, and a pool has a few threads.
      const job = waiting.shift();
      if (!job) return;
      slot.job = job;
      slot.timer = setTimeout(() => handleThreadFailure(slot, `took more than ${limits.taskMs} ms`), limits.taskMs);
      slot.thread?.postMessage(job.task);
    }
    const starting = slots.filter(({ thread, isReady }) => thread && !isReady).length;
    const idle = slots.filter(({ thread }) => !thread);
    for (const slot of idle.slice(0, Math.max(0, waiting.length - starting))) startThread(slot);
  }

  return {
    /** Never rejects. */
    run: (task: Task) =>
      new Promise<TaskOutcome<Result>>((resolve) => {
        if (isStopped) return resolve(STOPPED);
        const waitTimer = setTimeout(() => {
          const index = waiting.indexOf(job);
          if (index === -1) return;
          waiting.splice(index, 1);
          job.settle({ problem: `waited more than ${limits.waitMs} ms`, reason: 'busy' });
        }, limits.waitMs);
        const job: Job<Task, Result> = {
          task,
          settle: (outcome) => {
            clearTimeout(waitTimer);
            resolve(outcome);
          },
        };
        waiting.push(job);
        dispatch();
      }),
    async stop(): Promise<void> {
      isStopped = true;
      for (const job of waiting.splice(0)) job.settle(STOPPED);
      const threads = slots.map(({ thread }) => thread);
      for (const slot of slots) {
        Object.assign(slot, { thread: null, isReady: false });
        settleJob(slot, STOPPED);
      }
      await Promise.all(threads.map((thread) => thread?.terminate()));
    },
  };
}

const STOPPED = { problem: 'the service is stopping', reason: 'busy' } as const;
