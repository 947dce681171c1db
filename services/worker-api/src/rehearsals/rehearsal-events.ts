import type { EventHandlerFor, rehearsalFinished } from '@gantry/events';
import { afterCommit, type WorkLoop } from '@gantry/postgres';

/** Wakes the loops, which find in the tables whose cases have ended: a lost or repeated event changes nothing. */
export const createRehearsalEndHandler = (
  loops: Pick<WorkLoop, 'kick'>[],
): EventHandlerFor<typeof rehearsalFinished> => ({
  name: 'rehearsals',
  handle: async (tx) => {
    for (const { kick } of loops) afterCommit(tx, kick);
  },
});
