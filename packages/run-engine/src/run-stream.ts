/**
 * The incarnation of its stream of run events that a service reads.
 *
 * A stream that was lost has taken reports along that nobody has read: that a run has begun may have been one of them. So
 * every run that an executor holds counts as begun from then on, and none is begun a second time.
 */
import { type Bus, hasConsumedAll, INGEST_DURABLE, type StreamState, streamState } from '@gantry/events';
import type { Pool } from 'pg';
import type { Logger } from 'pino';

export function watchStream({ bus, pool, stream, log }: { bus: Bus; pool: Pool; stream: string; log: Logger }) {
  /** Of this stream, as this replica has seen it. */
  let lastSeq = 0;
  let created: Date | undefined;

  const isSame = (state: StreamState) => state.created.getTime() === created?.getTime();

  async function note(): Promise<void> {
    const state = await streamState(bus, stream);
    if (await streamChanged(pool, state, isSame(state) && state.lastSeq < lastSeq)) {
      log.error(
        { stream, created: state.created },
        'the stream of run events is a new one: what is under way counts as begun',
      );
    }
    created = state.created;
    lastSeq = Math.min(lastSeq, state.lastSeq);
  }

  return {
    /** Before messages are read: looks whether it is still the stream that was read last. */
    note,
    /** A message with this number was read. */
    saw(seq: number) {
      lastSeq = Math.max(lastSeq, seq);
    },
    /** Everything in it was read, by this or another replica, and nothing of it was lost. */
    async isConsumed(): Promise<boolean> {
      const state = await streamState(bus, stream);
      if (isSame(state) && state.lastSeq >= lastSeq) return hasConsumedAll(bus, stream, INGEST_DURABLE);
      await note();
      return false;
    },
  };
}

/**
 * Notes the stream. If it is not the one that was read last, or `isCut`, reports may be lost: every run that an executor
 * holds then counts as begun, in the same statement.
 * @returns true in that case
 */
async function streamChanged(pool: Pool, stream: StreamState, isCut: boolean): Promise<boolean> {
  const { rows } = await pool.query<{ changed: boolean }>(
    `WITH before AS (
       SELECT created_at FROM run_streams WHERE name = $1
     ), noted AS (
       INSERT INTO run_streams (name, created_at) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET created_at = $2
     ), change AS (
       SELECT $3 OR EXISTS (SELECT FROM before WHERE created_at <> $2) AS changed
     ), begun AS (
       UPDATE runs SET confirmed = true
       WHERE status = 'running' AND NOT confirmed AND (SELECT changed FROM change)
     )
     SELECT changed FROM change`,
    [stream.name, stream.created, isCut],
  );
  return rows[0]?.changed ?? false;
}
