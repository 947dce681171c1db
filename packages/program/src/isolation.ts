import { z } from 'zod';

type Isolation = 'warm' | 'fresh' | 'process';

/** Maps `zygote`, as earlier versions call it, to `warm`. */
export const normalizeIsolation = (name: Isolation | 'zygote'): Isolation => (name === 'zygote' ? 'warm' : name);

/** The isolation of a program's runs from each other, as its author chooses. */
export const isolation = z.enum(['warm', 'fresh', 'process', 'zygote']).transform(normalizeIsolation).default('warm');

/** Converts the isolation to the fields of a run. */
export const toRunIsolation = (declaredIsolation: Isolation) => ({
  isolation: declaredIsolation === 'process' ? ('process' as const) : ('zygote' as const),
  ...(declaredIsolation === 'fresh' && { fresh: true as const }),
});
