/** Counts requests that wait so long for a response that the page shows a notice. */
import { useSyncExternalStore } from 'react';

const SLOW_MS = 5_000;

let slowCount = 0;
const listeners = new Set<() => void>();

function updateSlowCount(delta: number) {
  slowCount += delta;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export async function trackSlowRequest(response: Promise<Response>): Promise<Response> {
  let isSlow = false;
  const timer = setTimeout(() => {
    isSlow = true;
    updateSlowCount(1);
  }, SLOW_MS);
  try {
    return await response;
  } finally {
    clearTimeout(timer);
    if (isSlow) updateSlowCount(-1);
  }
}

export const useHasSlowRequest = (): boolean => useSyncExternalStore(subscribe, () => slowCount > 0);
