import { unavailable } from '@gantry/http';

/**
 * Lets `max` works go on at a time and keeps up to `waitingMax` waiting, so that what each may hold in memory is bounded
 * for the process. @throws AppError 503 when too many wait
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
