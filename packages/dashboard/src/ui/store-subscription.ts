import { throttleToFrame } from './throttle-to-frame';

export interface StoreSubscription {
  /** Listeners are called once per frame, however much was added. */
  subscribe: (listener: () => void) => () => void;
  /** Changes whenever there is something to render. */
  version: () => number;
}

/** Creates the subscription of a store outside of React, for `useSyncExternalStore`. `notify`: the store changed. */
export function createStoreSubscription(): { redraws: StoreSubscription; notify: () => void } {
  const listeners = new Set<() => void>();
  let version = 0;
  const notify = throttleToFrame(() => {
    version++;
    for (const listener of listeners) listener();
  });
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return { redraws: { subscribe, version: () => version }, notify };
}
