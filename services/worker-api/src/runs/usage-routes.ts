import { type Operations, ok } from '@gantry/http';
import type { RunDeps } from './run-deps';
import { loadUsage } from './usage';

export function createUsageOperations({ pool, now }: Pick<RunDeps, 'pool' | 'now'>): Operations<'worker'> {
  return {
    getUsage: async ({ caller, query }) => ok(await loadUsage(pool, caller, query.month, now())),
  };
}
