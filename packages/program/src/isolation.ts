import { z } from 'zod';

type Isolation = 'warm' | 'fresh' | 'process';

/** `zygote` is what earlier versions call `warm`. */
export const currentIsolation = (name: Isolation | 'zygote'): Isolation => (name === 'zygote' ? 'warm' : name);

/** How runs of some code are kept apart from each other, as its author chooses. */
export const isolation = z.enum(['warm', 'fresh', 'process', 'zygote']).transform(currentIsolation).default('warm');

/** The same as a run has it. */
export const isolationOfRun = (chosen: Isolation) => ({
  isolation: chosen === 'process' ? ('process' as const) : ('zygote' as const),
  ...(chosen === 'fresh' && { fresh: true as const }),
});
