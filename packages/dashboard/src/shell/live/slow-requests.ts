/** Counts requests that wait so long for a response that the page shows a notice. */
import { createStore } from '../../ui/store';

const SLOW_MS = 5_000;

const slowCount = createStore(0);

export async function trackSlowRequest(response: Promise<Response>): Promise<Response> {
  let isSlow = false;
  const timer = setTimeout(() => {
    isSlow = true;
    slowCount.set(slowCount.get() + 1);
  }, SLOW_MS);
  try {
    return await response;
  } finally {
    clearTimeout(timer);
    if (isSlow) slowCount.set(slowCount.get() - 1);
  }
}

export const useHasSlowRequest = (): boolean => slowCount.useValue() > 0;
