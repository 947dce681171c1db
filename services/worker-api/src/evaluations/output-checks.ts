/** Checks outputs in a thread of its own, with limits of time and memory: neither checks nor outputs decide what others wait for. */
import path from 'node:path';
import { createThreadPool, type ThreadLimits, type ThreadPool } from '@gantry/thread-pool';
import type { CheckedOutput, CheckTask } from './check-output';

export type OutputChecks = ThreadPool<CheckTask, CheckedOutput>;

const THREAD = path.resolve(__dirname, '../../dist/evaluations/check-thread.js');
/** The largest output, 8 MB, with the largest checks takes up to two seconds. */
const LIMITS: ThreadLimits = { threads: 1, taskMs: 10_000, waitMs: 120_000, heapMb: 256 };

export const createOutputChecks = (limits: Partial<ThreadLimits> = {}): OutputChecks =>
  createThreadPool(THREAD, { ...LIMITS, ...limits });
