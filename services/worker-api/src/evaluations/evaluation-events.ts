/** Events that evaluations react to: finished rehearsals and new versions. */
import type { EventHandlerFor, rehearsalFinished, workerChanged } from '@gantry/events';
import { afterCommit } from '@gantry/postgres';
import type { EvaluationDeps } from './evaluation-deps';
import { isEvaluationRun, markForJudging } from './result-repository';
import { evaluateSavedVersion } from './start-evaluation';

export interface EvaluationEventHandlers {
  rehearsalFinished: EventHandlerFor<typeof rehearsalFinished>;
  workerChanged: EventHandlerFor<typeof workerChanged>;
}

export const createEvaluationEventHandlers = (deps: EvaluationDeps): EvaluationEventHandlers => ({
  rehearsalFinished: {
    name: 'evaluations',
    wants: ({ runId }) => isEvaluationRun(deps.pool, runId),
    handle: async (tx, { data }) => {
      await markForJudging(tx, data.runId);
      afterCommit(tx, deps.evaluationLoop.kick);
    },
  },
  workerChanged: {
    name: 'evaluations',
    // The worker may have been set to evaluate its versions since: those before are not evaluated.
    wants: ({ version, evaluateOnSave = true }) => version !== undefined && evaluateOnSave,
    handle: async (tx, { workspaceId, data: { workerUid: uid, version } }) => {
      if (version === undefined) return;
      await evaluateSavedVersion(deps, tx, { workspaceId, uid, version });
      afterCommit(tx, deps.evaluationLoop.kick);
    },
  },
});
