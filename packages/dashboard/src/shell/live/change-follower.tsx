import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { setConnection } from './connection';
import { type Change, createQueryInvalidator } from './query-invalidator';
import { followSharedChanges } from './shared-changes';

/** An interruption that is over within this time is not shown. */
const INTERRUPTION_SHOWN_AFTER_MS = 3_000;
/** Spreads the requests when a server resets all tabs at once. */
const SPREAD_MS = 1_000;

/** Invalidates the queries of this tab that show what has changed in the workspace. */
export default function ChangeFollower({ workspaceId }: { workspaceId: string }) {
  const client = useQueryClient();
  useEffect(() => {
    const stale = createQueryInvalidator(client);
    let offlineTimer: ReturnType<typeof setTimeout> | undefined;
    let resetTimer: ReturnType<typeof setTimeout> | undefined;
    const stop = followSharedChanges({
      workspaceId,
      onEvent({ event, data }) {
        if (event === 'change') stale.handleChange(JSON.parse(data) as Change);
        if (event === 'reset') resetTimer = setTimeout(stale.reset, Math.random() * SPREAD_MS);
      },
      onConnection(isConnected) {
        if (!isConnected) {
          offlineTimer ??= setTimeout(() => setConnection('offline'), INTERRUPTION_SHOWN_AFTER_MS);
          return;
        }
        clearTimeout(offlineTimer);
        offlineTimer = undefined;
        setConnection('live');
      },
    });
    return () => {
      stop();
      clearTimeout(offlineTimer);
      clearTimeout(resetTimer);
      stale.stop();
      setConnection('connecting');
    };
  }, [client, workspaceId]);
  return null;
}
