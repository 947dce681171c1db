/** Waits; an abort ends the wait early, without an error. */
export function sleep(ms: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const timer = setTimeout(finish, ms);
    signal?.addEventListener('abort', finish, { once: true });
    function finish() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', finish);
      resolve();
    }
  });
}

/** Spreads a delay over its upper half, so that clients do not all return at once after an outage. */
export const jitter = (ms: number): number => ms * (0.5 + Math.random() / 2);
