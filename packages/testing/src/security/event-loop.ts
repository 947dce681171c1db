/** Measures for how long requests stop everything else in this process, whose event loop serves them. */
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { measureSlowness } from '../longest-turn';
import { readThreadCpuMs } from '../thread-cpu';

const RESOLUTION_MS = 5;
/**
 * A collection of garbage that others left may take as long, and so may a machine that gives us less than a core; not
 * each time.
 */
const TRIES = 10;
const BETWEEN_TRIES_MS = 100;
/** Times the limit: neither garbage nor a slow machine explains so much processor time. */
const CERTAIN = 10;

export interface SentRequest {
  url: string;
  method: string;
  headers: Record<string, string>;
}

export interface MeasuredResponse {
  /** 0: the connection was closed. */
  status: number;
  /**
   * The longest pause of the event loop meanwhile; a long one in milliseconds of the machine that bounds are meant
   * for.
   */
  blockedMs: number;
}

export interface MeasuredSender {
  /** @param most a longer pause is looked at again: what counts is what happens each time */
  send(request: SentRequest, text: string, most: number): Promise<MeasuredResponse>;
  stop(): Promise<unknown>;
}

export function startMeasuredSender(): MeasuredSender {
  const worker = new Worker(path.join(__dirname, 'send-bodies.cjs'));
  worker.unref();

  async function sendOnce(request: SentRequest, text: string): Promise<MeasuredResponse> {
    const loaded = waitForMessage<void>(worker);
    worker.postMessage({ load: text });
    // The time to hand it over is not the request's doing.
    await loaded;
    const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    delay.enable();
    // It sees no pause that begins before its first tick.
    await sleep(2 * RESOLUTION_MS);
    const cpuBefore = readThreadCpuMs();
    const answered = waitForMessage<number>(worker);
    worker.postMessage({ request });
    const status = await answered;
    await sleep(2 * RESOLUTION_MS);
    delay.disable();
    // Other programs of a busy machine stop this one too; they take none of its time.
    return { status, blockedMs: Math.min(delay.max / 1e6, readThreadCpuMs() - cpuBefore) };
  }

  return {
    async send(request, text, most) {
      let sent = await sendOnce(request, text);
      const isUncertain = () => sent.blockedMs > most && sent.blockedMs < CERTAIN * most;
      for (let tried = 1; tried < TRIES && isUncertain(); tried++) {
        await sleep(BETWEEN_TRIES_MS * tried);
        const slownessBefore = await measureSlowness();
        const again = await sendOnce(request, text);
        // A machine that was slow only for the control would excuse any pause.
        again.blockedMs /= Math.min(slownessBefore, await measureSlowness());
        // One that was given up may not have been looked at.
        if ((again.status || !sent.status) && again.blockedMs < sent.blockedMs) sent = again;
      }
      return sent;
    },
    stop: () => worker.terminate(),
  };
}

function waitForMessage<T>(worker: Worker): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = (err: unknown) => reject(err);
    worker.once('error', fail);
    worker.once('message', (message: T) => {
      worker.off('error', fail);
      resolve(message);
    });
  });
}
