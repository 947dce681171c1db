/** Events that evaluations react to: finished rehearsals and new versions. */
import type { ReactionTo, rehearsalFinished, workerChanged } from '@gantry/events';
import { afterCommit } from '@gantry/postgres';
import type { EvaluationDeps } from './evaluation-deps';
import { awaitJudging, isOfEvaluation } from './result-repository';
import { evaluateSaved } from './start-evaluation';

export interface EvaluationReactions {
  rehearsalFinished: ReactionTo<typeof rehearsalFinished>;
  workerChanged: ReactionTo<typeof workerChanged>;
}

export const evaluationReactions = (deps: EvaluationDeps): EvaluationReactions => ({
  rehearsalFinished: {
    name: 'evaluations',
    wants: ({ runId }) => isOfEvaluation(deps.pool, runId),
    handle: async (tx, { data }) => {
      await awaitJudging(tx, data.runId);
      afterCommit(tx, deps.evaluationLoop.kick);
    },
  },
  workerChanged: {
    name: 'evaluations',
    // The worker may have been set to evaluate its versions since: those before are not evaluated.
    wants: ({ version, evaluateOnSave = true }) => version !== undefined && evaluateOnSave,
    handle: async (tx, { workspaceId, data: { workerUid: uid, version } }) => {
      if (version === undefined) return;
      await evaluateSaved(deps, tx, { workspaceId, uid, version });
      afterCommit(tx, deps.evaluationLoop.kick);
    },
  },
});
