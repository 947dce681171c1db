/**
 * Aborts bodies that arrive too slowly: a stalled client holds a connection, memory and an upload slot.
 *
 * All pending bodies are checked once a second. The bytes received by the connection are counted, so the stream stays
 * untouched; while received data has not been read yet, the service itself is the slow side.
 */
import type { Request } from 'express';
import { AppError } from './errors';

const WINDOW_MS = 10_000;
const BYTES_PER_SECOND_MIN = 1_024;
const LOOK_MS = 1_000;

interface Watched {
  req: Request;
  since: number;
  receivedBefore: number;
  tooSlow: (error: AppError) => void;
}

const underWay = new Set<Watched>();
let looking: NodeJS.Timeout | undefined;

/**
 * Returns the result of `reading`, unless the body of `req` arrives too slowly.
 * @throws AppError 408 after ten seconds with less than 1 KB in each; or whatever `reading` throws
 */
export async function atSpeed<T>(req: Request, reading: Promise<T>): Promise<T> {
  if (req.complete) return reading;
  let watched: Watched | undefined;
  const slow = new Promise<never>((_resolve, reject) => {
    watched = { req, since: Date.now(), receivedBefore: req.socket.bytesRead, tooSlow: reject };
    underWay.add(watched);
  });
  looking ??= setInterval(look, LOOK_MS).unref();
  try {
    return await Promise.race([reading, slow]);
  } finally {
    underWay.delete(watched as Watched);
    // If the client was too slow, nothing awaits `reading` any more.
    reading.catch(() => {});
  }
}

function look(): void {
  const now = Date.now();
  for (const one of underWay) {
    const { req, since, receivedBefore, tooSlow } = one;
    if (req.complete) {
      underWay.delete(one);
      continue;
    }
    if (now - since < WINDOW_MS) continue;
    const received = req.socket.bytesRead;
    if (received - receivedBefore < (BYTES_PER_SECOND_MIN * WINDOW_MS) / 1_000 && !req.readableLength) {
      tooSlow(tooSlowly());
    } else Object.assign(one, { since: now, receivedBefore: received });
  }
  if (underWay.size) return;
  clearInterval(looking);
  looking = undefined;
}

const tooSlowly = () =>
  new AppError('timeout', 'too_slow', 'the body came at less than 1 KB per second for ten seconds; send it again');
