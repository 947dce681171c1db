import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { liveConnection } from './live-connection';
import { type ChangeHint, createQueryInvalidator } from './query-invalidator';
import { subscribeToSharedChanges } from './shared-changes';

/** An interruption that is over within this time is not shown. */
const INTERRUPTION_SHOWN_AFTER_MS = 3_000;
/** Spreads the requests when a server resets all tabs at once. */
const JITTER_MS = 1_000;

/** Invalidates the queries of this tab that show what has changed in the workspace. */
export default function ChangeSubscriber({ workspaceId }: { workspaceId: string }) {
  const client = useQueryClient();
  useEffect(() => {
    const stale = createQueryInvalidator(client);
    let offlineTimer: ReturnType<typeof setTimeout> | undefined;
    let resetTimer: ReturnType<typeof setTimeout> | undefined;
    const stop = subscribeToSharedChanges({
      workspaceId,
      onEvent({ event, data }) {
        if (event === 'change') stale.handleChange(JSON.parse(data) as ChangeHint);
        if (event === 'reset') resetTimer = setTimeout(stale.reset, Math.random() * JITTER_MS);
      },
      onConnection(isConnected) {
        if (!isConnected) {
          offlineTimer ??= setTimeout(() => liveConnection.set('offline'), INTERRUPTION_SHOWN_AFTER_MS);
          return;
        }
        clearTimeout(offlineTimer);
        offlineTimer = undefined;
        liveConnection.set('live');
      },
    });
    return () => {
      stop();
      clearTimeout(offlineTimer);
      clearTimeout(resetTimer);
      stale.stop();
      liveConnection.set('connecting');
    };
  }, [client, workspaceId]);
  return null;
}
