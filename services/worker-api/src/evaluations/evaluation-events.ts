import type { EventHandlerFor, workerChanged } from '@gantry/events';
import { afterCommit } from '@gantry/postgres';
import type { EvaluationDeps } from './evaluation-deps';
import { evaluateSavedVersion } from './start-evaluation';

/** Evaluates new versions of workers that request it. */
export const createSavedVersionHandler = (deps: EvaluationDeps): EventHandlerFor<typeof workerChanged> => ({
  name: 'evaluations',
  // The worker may have been set to evaluate its versions since: those before are not evaluated.
  wants: ({ version, evaluateOnSave = true }) => version !== undefined && evaluateOnSave,
  handle: async (tx, { workspaceId, data: { workerUid: uid, version } }) => {
    if (version === undefined) return;
    await evaluateSavedVersion(deps, tx, { workspaceId, uid, version });
    afterCommit(tx, deps.evaluationLoop.kick);
  },
});
