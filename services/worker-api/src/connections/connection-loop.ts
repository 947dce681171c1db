/** Work on connections by the clock, on every replica: refreshing tokens, and revoking those of deleted connections. */
import { pollForWork } from '@gantry/postgres';
import type { ConnectionDeps } from './connection-deps';
import { REFRESH_DUE_AT, refreshDueConnections } from './refresh';
import { REVOCATIONS_DUE_AT, revokeDueGrants } from './revocations';

const DUE_AT = `least(${REFRESH_DUE_AT}, ${REVOCATIONS_DUE_AT})`;

/** @param options.auto false: only explicit calls of `tick()` do anything */
export function startConnectionLoop(deps: ConnectionDeps, options: { auto: boolean }) {
  const tick = async () => ({ refreshed: await refreshDueConnections(deps), revoked: await revokeDueGrants(deps) });
  const { pool, log } = deps;
  const timer = options.auto ? pollForWork({ pool, dueAt: DUE_AT, work: tick, what: 'connections', log }) : null;
  return {
    /** Does once what is due now. */
    tick,
    stop: async () => {
      await timer?.stop();
    },
  };
}
