import type { EventHandlerFor, rehearsalFinished } from '@gantry/events';
import type { CandidateDeps } from './candidate-deps';
import { findCaseByRehearsal } from './candidate-repository';
import { handleRehearsalEnd } from './rehearse-cases';

/** Settles the case that waits for the end of a rehearsal. A redelivered event finds none. */
export const createRehearsalEndHandler = (deps: CandidateDeps): EventHandlerFor<typeof rehearsalFinished> => ({
  name: 'candidate-cases',
  wants: async ({ runId }) => (await findCaseByRehearsal(deps.pool, runId)) !== undefined,
  handle: (_tx, { data }) => handleRehearsalEnd(deps, data.runId),
});
