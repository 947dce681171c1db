/**
 * Processes one body of hundreds of kilobytes at a time, whichever client sends it. Each step of such a body takes tens
 * of milliseconds, and forty that are ready together would all run before other work gets its turn.
 */
import { setImmediate as othersTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Response } from 'express';

export const HEAVY_BYTES = 128 * 1024;
/** Time after which a waiting response no longer blocks other bodies; the expensive part is done by then. */
const HOLD_MS = 250;

/** Resolves when it is this response's turn, which ends with the response. */
export type AwaitTurn = (res: Pick<Response, 'once' | 'closed'>) => Promise<void>;

export function createLargeBodyQueue(holdMs = HOLD_MS): AwaitTurn {
  let last: Promise<void> = Promise.resolve();
  return async (res) => {
    const before = last;
    let markStarted = () => {};
    const begun = new Promise<void>((resolve) => {
      markStarted = resolve;
    });
    last = before.then(() => begun).then(() => waitForClose(res, holdMs));
    await before;
    // Requests that arrived meanwhile come first.
    await othersTurn();
    await othersTurn();
    markStarted();
  };
}

async function waitForClose(res: Parameters<AwaitTurn>[0], holdMs: number): Promise<void> {
  if (res.closed) return;
  const closed = new AbortController();
  res.once('close', () => closed.abort());
  await sleep(holdMs, undefined, { signal: closed.signal, ref: false }).catch(() => {});
}
