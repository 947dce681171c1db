/** Runs and judges the examples of evaluations. */
import { newId } from '@gantry/events';
import { startWorkLoop, type WorkLoop } from '@gantry/postgres';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { advanceEvaluation, CONCURRENCY_MAX } from './advance-evaluation';
import type { EvaluationDeps } from './evaluation-deps';
import { HAS_RUNNING_EVALUATIONS, listAdvanceableEvaluations } from './evaluation-repository';
import { judgeResult } from './judge-result';
import { claimResults, markEndedForJudging, releaseResults } from './result-repository';

/** Results that this replica judges at once. */
const IN_FLIGHT_MAX = 8;
const EVALUATIONS_MAX = 20;
/** An evaluation that failed to advance leaves its turn to others for so long. */
const RETRY_MS = 5_000;
/** Failed evaluations that are remembered; older ones are tried again sooner. */
const FAILED_MAX = 100;

export function startEvaluationLoop(
  { pool, log }: { pool: Pool; log: Logger },
  depsPromise: Promise<EvaluationDeps>,
  { auto }: { auto: boolean },
): WorkLoop {
  /** The holder of the leases. */
  const replica = newId('');
  /** Times from which failed evaluations are tried again, the earliest first. */
  const retryTimes = new Map<string, number>();
  const loop = startWorkLoop({
    pool,
    log,
    what: 'evaluations',
    dueAt: `CASE WHEN ${HAS_RUNNING_EVALUATIONS} THEN now() END`,
    auto,
    capacity: IN_FLIGHT_MAX,
    advance: async (signal) => {
      const deps = await depsPromise;
      await markEndedForJudging(pool);
      for (const [id, retryAt] of retryTimes) if (retryAt <= Date.now()) retryTimes.delete(id);
      const options = { concurrency: CONCURRENCY_MAX, excludedIds: [...retryTimes.keys()], limit: EVALUATIONS_MAX };
      for (const id of await listAdvanceableEvaluations(pool, options)) {
        if (signal.aborted) return;
        await advanceEvaluation(deps, id).catch((err) => {
          log.warn({ err, evaluationId: id }, 'evaluation not advanced: will try again');
          if (retryTimes.size >= FAILED_MAX) retryTimes.delete(retryTimes.keys().next().value ?? '');
          retryTimes.set(id, Date.now() + RETRY_MS);
        });
      }
    },
    claim: (limit) => claimResults(pool, replica, limit),
    work: async (result, signal) =>
      judgeResult(await depsPromise, result, signal).catch((err) => {
        if (signal.aborted) return;
        log.error({ err, evaluationId: result.evaluationId }, 'example not judged: its lease will expire');
      }),
  });
  return {
    ...loop,
    stop: async () => {
      await loop.stop();
      await releaseResults(pool, replica).catch((err) =>
        log.info({ err }, 'evaluation leases not released: they will expire'),
      );
    },
  };
}
