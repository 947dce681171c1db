/** Work on connections by the clock, on every replica: refreshing tokens, and revoking those of deleted connections. */
import { startRepeatingTask } from '@gantry/postgres';
import type { ConnectionDeps } from './connection-deps';
import { refreshDueConnections } from './refresh';
import { revokeDueGrants } from './revocations';

const INTERVAL_MS = 5_000;

/** @param options.auto false: only explicit calls of `tick()` do anything */
export function startConnectionLoop(deps: ConnectionDeps, options: { auto: boolean }) {
  const tick = async () => ({ refreshed: await refreshDueConnections(deps), revoked: await revokeDueGrants(deps) });
  const { log } = deps;
  const timer = options.auto
    ? startRepeatingTask({ everyMs: INTERVAL_MS, work: tick, what: 'connections', log })
    : null;
  return {
    /** Does once what is due now. */
    tick,
    stop: async () => {
      await timer?.stop();
    },
  };
}

export type ConnectionLoop = ReturnType<typeof startConnectionLoop>;
