import { unavailable } from '@gantry/http';

/**
 * Concurrency limiter: runs at most `max` tasks and queues up to `waitingMax`, which bounds their memory
 * in the process. @throws AppError 503 if the queue is full
 */
export function fewAtOnce(max: number, waitingMax: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= max) {
      if (waiting.length >= waitingMax) throw unavailable('unpacking of uploads');
      await new Promise<void>((go) => waiting.push(go));
    } else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
