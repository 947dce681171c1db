import { createStore } from './store';
import { throttleToFrame } from './throttle-to-frame';

export interface StoreSubscription {
  /** Listeners are called once per frame, however much was added. */
  subscribe: (listener: () => void) => () => void;
  /** Changes whenever there is something to render. */
  version: () => number;
}

/** Creates the subscription of a store outside of React, for `useSyncExternalStore`. `notify`: the store changed. */
export function createStoreSubscription(): { redraws: StoreSubscription; notify: () => void } {
  const { subscribe, get: version, set } = createStore(0);
  return { redraws: { subscribe, version }, notify: throttleToFrame(() => set(version() + 1)) };
}
