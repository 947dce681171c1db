import { ApiError, parseRetryAfter } from './api-error';
import { jitter, sleep } from './sleep';

export interface RetryOptions {
  /** Attempts after the first. Default 3. */
  retriesMax?: number;
  /** Delay before the first retry, doubled by each further one. Default 300 ms. */
  firstDelayMs?: number;
  /** Longest delay. A response whose `Retry-After` is longer is returned as it is. Default 20 s. */
  delayMsMax?: number;
}

type Fetch = (request: Request) => Promise<Response>;

const RETRIED = new Set([429, 502, 503, 504]);

/**
 * Repeats what can be repeated without doing it twice: reads, and requests with an Idempotency-Key. An abort of the
 * request ends the retries, and so does an ApiError that `send` throws.
 * @throws ApiError `unreachable` where the last attempt got no response; the reason of the signal where it was aborted
 */
export function createRetryingFetch(send: Fetch, options: RetryOptions = {}): Fetch {
  const { retriesMax = 3, firstDelayMs = 300, delayMsMax = 20_000 } = options;
  return async (request) => {
    const hasKey = request.headers.has('Idempotency-Key');
    const retries = hasKey || request.method === 'GET' || request.method === 'HEAD' ? retriesMax : 0;
    for (let attempt = 0; ; attempt++) {
      const isLast = attempt >= retries;
      const backoffMs = jitter(Math.min(firstDelayMs * 2 ** attempt, delayMsMax));
      const outcome = await attemptOnce(send, isLast ? request : request.clone());
      if ('error' in outcome) {
        if (isLast || outcome.error instanceof ApiError) throw toUnreachableError(request, outcome.error);
        await sleep(backoffMs, request.signal);
      } else {
        const delayMs = isLast ? null : getRetryDelay(outcome, hasKey, backoffMs);
        if (delayMs === null || delayMs > delayMsMax) return outcome;
        await outcome.body?.cancel();
        await sleep(delayMs, request.signal);
      }
      request.signal.throwIfAborted();
    }
  };
}

async function attemptOnce(send: Fetch, request: Request): Promise<Response | { error: unknown }> {
  try {
    return await send(request);
  } catch (error) {
    request.signal.throwIfAborted();
    return { error };
  }
}

/** @returns milliseconds until the next attempt, null where the response is final */
function getRetryDelay(response: Response, hasKey: boolean, backoffMs: number): number | null {
  const seconds = parseRetryAfter(response.headers.get('Retry-After'));
  // The first request with this key is still under way.
  const isInFlight = response.status === 409 && hasKey && seconds !== null;
  if (!RETRIED.has(response.status) && !isInFlight) return null;
  return seconds === null ? backoffMs : Math.max(seconds * 1_000, backoffMs);
}

function toUnreachableError(request: Request, cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause;
  const { origin } = new URL(request.url);
  return new ApiError(0, 'unreachable', `the server at ${origin} cannot be reached`, [], null, null, { cause });
}
