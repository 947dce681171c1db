/**
 * Holds the end of an attempt back until what the attempt reported before it is stored.
 *
 * Replicas share a durable consumer, so the last two batches of a run may go to different ones. A reader of a run that
 * has ended expects all its lines and files.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { toSeq } from '../run-events';
import type { ReceivedBatch } from './report-queue';

/** Longer than another replica takes to write a batch. A batch that is lost holds no ending up for longer. */
const HELD_MS_MAX = 1_000;
const POLL_MS = 10;
const ATTEMPTS_MAX = 10_000;

/** @param deps.push writes batches in the order of its calls */
export function createEndingOrder({ pool, push }: { pool: Pool; push: (received: ReceivedBatch) => void }) {
  /** By attempt, the number after the last event that this replica has received. */
  const nextSeqs = new Map<string, number>();
  const held = new Set<ReceivedBatch>();

  async function pushOnceStored(received: ReceivedBatch, previousSeq: number): Promise<void> {
    held.add(received);
    const deadline = Date.now() + HELD_MS_MAX;
    while (Date.now() < deadline && !(await isStored(received.batch.runId, previousSeq))) {
      await delay(POLL_MS);
      if (!held.has(received)) return;
    }
    if (held.delete(received)) push(received);
  }

  async function isStored(runId: string, seq: number): Promise<boolean> {
    try {
      const { rows } = await pool.query('SELECT FROM run_events WHERE run_id = $1 AND seq = $2', [runId, seq]);
      return rows.length > 0;
    } catch {
      // The queue waits for PostgreSQL.
      return true;
    }
  }

  return {
    /** Returns whether no batch is held back. */
    get isIdle() {
      return held.size === 0;
    },
    push(received: ReceivedBatch) {
      const { runId, attempt, events } = received.batch;
      const first = events[0]?.seq ?? 1;
      const last = events.at(-1);
      const key = `${runId}/${attempt}`;
      // Number 1 is `started`, which is sent ahead.
      const isNext = first <= 2 || nextSeqs.get(key) === first;
      nextSeqs.delete(key);
      if (last?.type === 'finished') {
        if (!isNext) return void pushOnceStored(received, toSeq(attempt, first - 1));
      } else if (last) {
        nextSeqs.set(key, last.seq + 1);
        const [oldest] = nextSeqs.keys();
        if (nextSeqs.size > ATTEMPTS_MAX && oldest !== undefined) nextSeqs.delete(oldest);
      }
      push(received);
    },
    /** Holds nothing back any more. */
    stop() {
      for (const received of held) push(received);
      held.clear();
    },
  };
}
