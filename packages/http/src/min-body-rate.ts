/**
 * Aborts bodies that arrive too slowly: a stalled client holds a connection, memory and an upload slot.
 *
 * All pending bodies are checked once a second. The bytes received by the connection are counted, so the stream stays
 * untouched; while received data has not been read yet, the service itself is the slow side.
 */

import { AppError } from '@gantry/errors';
import type { Request } from 'express';

const WINDOW_MS = 10_000;
const BYTES_PER_SECOND_MIN = 1_024;
const CHECK_INTERVAL_MS = 1_000;

interface MonitoredBody {
  req: Request;
  since: number;
  receivedBefore: number;
  tooSlow: (error: AppError) => void;
}

const monitoredBodies = new Set<MonitoredBody>();
let checkTimer: NodeJS.Timeout | undefined;

/**
 * Returns the result of `reading`, unless the body of `req` arrives too slowly.
 * @throws AppError 408 after ten seconds with less than 1 KB in each; or whatever `reading` throws
 */
export async function enforceMinBodyRate<T>(req: Request, reading: Promise<T>): Promise<T> {
  if (req.complete) return reading;
  let monitored: MonitoredBody | undefined;
  const stalled = new Promise<never>((_resolve, reject) => {
    monitored = { req, since: Date.now(), receivedBefore: req.socket.bytesRead, tooSlow: reject };
    monitoredBodies.add(monitored);
  });
  checkTimer ??= setInterval(checkSpeeds, CHECK_INTERVAL_MS).unref();
  try {
    return await Promise.race([reading, stalled]);
  } finally {
    monitoredBodies.delete(monitored as MonitoredBody);
    // If the client was too slow, nothing awaits `reading` any more.
    reading.catch(() => {});
  }
}

function checkSpeeds(): void {
  const now = Date.now();
  for (const body of monitoredBodies) {
    const { req, since, receivedBefore, tooSlow } = body;
    if (req.complete) {
      monitoredBodies.delete(body);
      continue;
    }
    if (now - since < WINDOW_MS) continue;
    const received = req.socket.bytesRead;
    if (received - receivedBefore < (BYTES_PER_SECOND_MIN * WINDOW_MS) / 1_000 && !req.readableLength) {
      tooSlow(tooSlowError());
    } else Object.assign(body, { since: now, receivedBefore: received });
  }
  if (monitoredBodies.size) return;
  clearInterval(checkTimer);
  checkTimer = undefined;
}

const tooSlowError = () =>
  new AppError('timeout', 'too_slow', 'the body arrived at less than 1 KB per second for ten seconds; send it again');
