/**
 * Runs and judges examples of evaluations, on every replica. What has to be done is in the tables, so that any replica
 * does it, and goes on with what another one left: the loop looks there when something has happened, and by the clock.
 */
import { newId } from '@gantry/events';
import { advanceEvaluation, CONCURRENCY_MAX } from './advance-evaluation';
import type { EvaluationLoop } from './evaluation';
import type { EvaluationDeps } from './evaluation-deps';
import { listAdvanceable } from './evaluation-repository';
import { judgeResult } from './judge-result';
import { createOutputChecks } from './output-checks';
import { type ClaimedResult, claimResults, markLostForJudging, releaseResults } from './result-repository';

const EVERY_MS = 5_000;
/** Kicks within this time are coalesced. */
const KICK_DELAY_MS = 20;
/** Results that this replica judges at once. */
const IN_FLIGHT_MAX = 8;
const EVALUATIONS_MAX = 20;

/** @param options.auto false: only explicit calls of `tick()` do anything */
export function startEvaluationLoop(depsPromise: Promise<EvaluationDeps>, options: { auto: boolean }): EvaluationLoop {
  /** The holder of the leases. */
  const replica = newId('');
  const ending = new AbortController();
  const checks = createOutputChecks();
  const underWay = new Set<Promise<void>>();
  let round: Promise<void> | null = null;
  let again = false;
  let kicked: NodeJS.Timeout | undefined;

  /** One round at a time; a request during a round starts another one after it. */
  function wake() {
    again = true;
    round ??= runUntilIdle().finally(() => {
      round = null;
    });
  }

  async function runUntilIdle() {
    const deps = await depsPromise;
    while (again && !ending.signal.aborted) {
      again = false;
      await runOnce(deps).catch((err) => deps.log.warn({ err }, 'evaluations: will try again'));
    }
  }

  async function runOnce(deps: EvaluationDeps) {
    const { pool, log } = deps;
    await markLostForJudging(pool);
    const room = IN_FLIGHT_MAX - underWay.size;
    const claimed = room > 0 ? await claimResults(pool, replica, room) : [];
    for (const result of claimed) startJudging(deps, result);
    for (const id of await listAdvanceable(pool, CONCURRENCY_MAX, EVALUATIONS_MAX)) {
      await advanceEvaluation(deps, id).catch((err) =>
        log.warn({ err, evaluationId: id }, 'evaluation: will try again'),
      );
    }
  }

  function startJudging(deps: EvaluationDeps, result: ClaimedResult) {
    const judging = judgeResult({ ...deps, checks }, result, ending.signal)
      .catch((err) => {
        if (ending.signal.aborted) return;
        deps.log.error({ err, evaluationId: result.evaluationId }, 'example not judged: its lease will expire');
      })
      .finally(() => {
        underWay.delete(judging);
        wake();
      });
    underWay.add(judging);
  }

  const waitUntilIdle = async () => {
    while (round || underWay.size) await Promise.all([round, ...underWay]);
  };
  const timer = options.auto ? setInterval(wake, EVERY_MS).unref() : undefined;

  return {
    tick: () => {
      wake();
      return waitUntilIdle();
    },
    kick: () => {
      if (!options.auto || ending.signal.aborted || kicked) return;
      kicked = setTimeout(() => {
        kicked = undefined;
        wake();
      }, KICK_DELAY_MS).unref();
    },
    stop: async () => {
      ending.abort();
      clearTimeout(kicked);
      clearInterval(timer);
      await checks.stop();
      await waitUntilIdle();
      const { pool, log } = await depsPromise;
      await releaseResults(pool, replica).catch((err) => log.info({ err }, 'evaluations: leases will expire'));
    },
  };
}
