import type { Overview } from './overview-queries';

/** Counts the slots of the executors that are ready. */
export function countSlots({ executors }: Pick<Overview, 'executors'>): { slots: number; busy: number } {
  const readyExecutors = executors.filter(({ state }) => state === 'ready');
  return {
    slots: readyExecutors.reduce((sum, { slots }) => sum + slots, 0),
    busy: readyExecutors.reduce((sum, { busy }) => sum + busy, 0),
  };
}
