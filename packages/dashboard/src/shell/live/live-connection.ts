/** Whether this tab receives changes: `offline` only after a longer interruption. */
import { useSyncExternalStore } from 'react';

export type LiveConnectionState = 'connecting' | 'live' | 'offline';

let state: LiveConnectionState = 'connecting';
const listeners = new Set<() => void>();

export function setLiveConnection(next: LiveConnectionState): void {
  if (next === state) return;
  state = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useLiveConnection = (): LiveConnectionState => useSyncExternalStore(subscribe, () => state);
