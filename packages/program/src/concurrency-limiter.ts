import { unavailable } from '@gantry/errors';
import pLimit from 'p-limit';

/**
 * Creates a concurrency limiter: runs at most `max` tasks and queues up to `queuedMax`, which bounds their memory
 * in the process. @throws AppError 503 if the queue is full
 */
export function createLimiter(max: number, queuedMax: number): <T>(work: () => Promise<T>) => Promise<T> {
  const limit = pLimit(max);
  return async (work) => {
    if (limit.activeCount + limit.pendingCount >= max + queuedMax) throw unavailable('unpacking uploads');
    return limit(work);
  };
}
