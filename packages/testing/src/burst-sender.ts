/** Many requests at once from a thread of their own, so that sending them takes no turn of the event loop that is measured. */
import { once } from 'node:events';
import path from 'node:path';
import { Worker } from 'node:worker_threads';

export interface BurstSender {
  /** @returns the status of each response */
  post(url: string, json: string, count: number): Promise<number[]>;
  stop(): Promise<unknown>;
}

export function startBurstSender(): BurstSender {
  const worker = new Worker(path.join(__dirname, 'burst.cjs'));
  worker.unref();
  return {
    async post(url, text, count) {
      worker.postMessage({ url, text, count });
      const [statuses] = await once(worker, 'message');
      return statuses;
    },
    stop: () => worker.terminate(),
  };
}
