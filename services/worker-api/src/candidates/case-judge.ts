/** Judges cases in a separate thread with limits of time and memory, so that no output can delay other requests. */
import path from 'node:path';
import { createThreadPool, type ThreadLimits, type ThreadPool } from '@gantry/thread-pool';
import type { CaseJudgement, EndingsTask } from './judge-endings';

export type CaseJudge = ThreadPool<EndingsTask, CaseJudgement>;

const THREAD = path.resolve(__dirname, '../../dist/candidates/judge-thread.js');
/** Three outputs of 8 MB, the largest, take about a second. */
const LIMITS: ThreadLimits = { threads: 1, taskMs: 10_000, waitMs: 120_000, heapMb: 512 };

export const createCaseJudge = (limits: Partial<ThreadLimits> = {}): CaseJudge =>
  createThreadPool(THREAD, { ...LIMITS, ...limits });
