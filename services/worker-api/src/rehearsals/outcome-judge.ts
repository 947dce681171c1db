/** Judges outcomes in separate threads with limits of time and memory: no output or check can delay other requests. */
import path from 'node:path';
import { createThreadPool, type ThreadLimits } from '@gantry/thread-pool';
import type { Logger } from 'pino';
import type { OutcomeCheckInput, OutcomeCheckResult } from './check-outcome';
import type { OutcomeComparison, OutcomeComparisonInput } from './compare-run-outcomes';

export type JudgeTask = OutcomeComparisonInput | OutcomeCheckInput;

/** Null: it takes more time or memory than it may. Both reject if the threads are busy, or stopped. */
export interface OutcomeJudge {
  /** Compares a rehearsal with the recorded run. */
  compare(input: OutcomeComparisonInput): Promise<OutcomeComparison | null>;
  /** Checks a rehearsal against the expectations of an example. */
  check(input: OutcomeCheckInput): Promise<OutcomeCheckResult | null>;
  stop(): Promise<void>;
}

const THREAD = path.resolve(__dirname, '../../dist/rehearsals/judge-thread.js');
/** Three outputs of 8 MB, the largest, take about a second; one with the largest checks up to two. */
const LIMITS: ThreadLimits = { threads: 2, taskMs: 10_000, waitMs: 120_000, heapMb: 512 };

export function createOutcomeJudge(log: Pick<Logger, 'warn'>, limits: Partial<ThreadLimits> = {}): OutcomeJudge {
  const pool = createThreadPool<JudgeTask, unknown>(THREAD, { ...LIMITS, ...limits });
  async function judge<Result>(task: JudgeTask): Promise<Result | null> {
    const outcome = await pool.run(task);
    if ('result' in outcome) return outcome.result as Result;
    const { reason, problem } = outcome;
    if (reason === 'busy') throw new Error(`a rehearsal was not judged: ${problem}`);
    log.warn({ problem }, 'a rehearsal costs too much to be judged');
    return null;
  }
  return { compare: (input) => judge(input), check: (input) => judge(input), stop: pool.stop };
}
