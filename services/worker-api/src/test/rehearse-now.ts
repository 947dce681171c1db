import { transaction } from '@gantry/postgres';
import type { RehearsalDeps } from '../rehearsals/rehearsal-deps';
import { type RehearsalRequest, rehearse } from '../rehearsals/rehearse';

/** Rehearses in a transaction of its own. */
export const rehearseNow = (deps: RehearsalDeps, request: RehearsalRequest) =>
  transaction(deps.pool, (tx) => rehearse(deps, tx, request));
