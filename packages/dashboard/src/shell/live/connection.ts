/** Whether this tab receives changes: `offline` only after a longer interruption. */
import { useSyncExternalStore } from 'react';

export type Connection = 'connecting' | 'live' | 'offline';

let state: Connection = 'connecting';
const listeners = new Set<() => void>();

export function setConnection(next: Connection): void {
  if (next === state) return;
  state = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useLiveConnection = (): Connection => useSyncExternalStore(subscribe, () => state);
