import type { Overview } from './overview-queries';

/** Counts the slots of the executors that are ready. */
export function slotsOf({ executors }: Pick<Overview, 'executors'>): { slots: number; busy: number } {
  const ready = executors.filter(({ state }) => state === 'ready');
  return {
    slots: ready.reduce((sum, { slots }) => sum + slots, 0),
    busy: ready.reduce((sum, { busy }) => sum + busy, 0),
  };
}
