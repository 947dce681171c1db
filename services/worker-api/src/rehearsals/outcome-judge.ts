/** Judges outcomes in separate threads with limits of time and memory: no output or check can delay other requests. */
import path from 'node:path';
import { createThreadPool, type ThreadLimits, type ThreadPool } from '@gantry/thread-pool';
import type { Logger } from 'pino';
import type { OutcomeCheckInput, OutcomeCheckResult } from './check-outcome';
import type { OutcomeComparison, OutcomeComparisonInput } from './compare-run-outcomes';

export type JudgeTask = OutcomeComparisonInput | OutcomeCheckInput;

/** Names the trial in the log. */
export type JudgeSubject = { candidateId: string } | { evaluationId: string; runId: string };

/** Null: it takes more time or memory than it may. Both reject if the threads are busy, or stopped. */
export interface OutcomeJudge {
  /** Compares a rehearsal with the recorded run. */
  compare(input: OutcomeComparisonInput, subject: JudgeSubject): Promise<OutcomeComparison | null>;
  /** Checks a rehearsal against the expectations of an example. */
  check(input: OutcomeCheckInput, subject: JudgeSubject): Promise<OutcomeCheckResult | null>;
  /** Stops the threads of both. */
  stop(): Promise<void>;
}

const THREAD = path.resolve(__dirname, '../../dist/rehearsals/judge-thread.js');
/**
 * Each kind has a thread of its own: members write checks that take seconds, and candidates must not wait for those.
 * One thread for each keeps both heaps together within the memory of the container. A comparison parses three outputs
 * of 8 MB, the largest, in about a second; a check parses one, and takes up to two seconds with the largest checks.
 */
const COMPARISON_LIMITS: ThreadLimits = { threads: 1, taskMs: 10_000, waitMs: 120_000, heapMb: 512 };
const CHECK_LIMITS: ThreadLimits = { ...COMPARISON_LIMITS, heapMb: 256 };

export function createOutcomeJudge(log: Pick<Logger, 'warn'>, limits: Partial<ThreadLimits> = {}): OutcomeJudge {
  const comparisons = createThreadPool<OutcomeComparisonInput, OutcomeComparison>(THREAD, {
    ...COMPARISON_LIMITS,
    ...limits,
  });
  const checks = createThreadPool<OutcomeCheckInput, OutcomeCheckResult>(THREAD, { ...CHECK_LIMITS, ...limits });
  async function judge<Task, Result>(
    pool: ThreadPool<Task, Result>,
    task: Task,
    subject: JudgeSubject,
  ): Promise<Result | null> {
    const outcome = await pool.run(task);
    if ('result' in outcome) return outcome.result;
    const { reason, problem } = outcome;
    if (reason === 'busy') throw new Error(`a rehearsal was not judged: ${problem}`);
    log.warn({ ...subject, reason, problem }, 'a rehearsal was not judged');
    return null;
  }
  return {
    compare: (input, subject) => judge(comparisons, input, subject),
    check: (input, subject) => judge(checks, input, subject),
    stop: async () => {
      await Promise.all([comparisons.stop(), checks.stop()]);
    },
  };
}
