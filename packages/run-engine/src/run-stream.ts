/**
 * The incarnation of its stream of run events that a service reads.
 *
 * A stream that was lost, or replaced by an older copy of it, has taken reports along that no replica has read: that a run
 * has begun may have been one of them. So every run that an executor holds counts as begun from then on, and none is begun
 * a second time. A stream that merely was restarted has the same identity, and at least the messages that it had before.
 */
import { type Bus, INGEST_DURABLE, type StreamState, streamState, watchBacklog } from '@gantry/events';
import { type Repeated, repeat } from '@gantry/http';
import type { Pool } from 'pg';
import type { Logger } from 'pino';

/** Messages of the last seconds that no replica has read, and that are lost with the store, go unnoticed. */
const NOTE_MS = 3_000;

export interface StreamWatch {
  /** Compares the stream with the one that was read last. @returns true if reports may be lost */
  note(): Promise<boolean>;
  /** A message with this number was read. */
  saw(seq: number): void;
  /** Everything in it was read, by this or another replica, and nothing of it was lost. */
  isConsumed(): Promise<boolean>;
  stop(): Promise<void>;
}

export function watchStream(deps: { bus: Bus; pool: Pool; stream: string; log: Logger }): StreamWatch {
  const { bus, pool, stream, log } = deps;
  const backlog = watchBacklog({ bus, stream, durable: INGEST_DURABLE });
  /** The highest that this replica has read. */
  let readSeq = 0;

  async function note(): Promise<boolean> {
    // Both numbers are read before the stream is asked: another replica may note a higher one at any time.
    const [known, read] = [await findKnown(pool, stream), readSeq];
    const state = await streamState(bus, stream);
    if (!state.identity) return false;
    const isReplaced = known?.identity != null && known.identity !== state.identity;
    const isLost = isReplaced || state.lastSeq < Math.max(known?.lastSeq ?? 0, read);
    if (isLost) {
      readSeq = 0;
      await countAsBegun(pool, state);
      log.error(
        { stream, identity: state.identity, lastSeq: state.lastSeq, known },
        'the stream of run events has lost messages: runs under way count as begun',
      );
    } else if (known?.identity !== state.identity || known.lastSeq < state.lastSeq) {
      await record(pool, state);
    }
    return isLost;
  }

  // While NATS or PostgreSQL is away, everything else says so.
  const work = () => note().catch((err) => log.debug({ err, stream }, 'stream not checked'));
  const noting: Repeated = repeat({ everyMs: NOTE_MS, work, what: 'stream check', log });

  return {
    note,
    saw(seq) {
      readSeq = Math.max(readSeq, seq);
    },
    isConsumed: async () => !(await note()) && backlog.isConsumed(),
    stop: () => noting.stop(),
  };
}

interface KnownStream {
  /** Null: noted by an earlier version. */
  identity: string | null;
  lastSeq: number;
}

async function findKnown(pool: Pool, stream: string): Promise<KnownStream | undefined> {
  const { rows } = await pool.query('SELECT identity, last_seq FROM run_streams WHERE name = $1', [stream]);
  return rows[0] && { identity: rows[0].identity, lastSeq: Number(rows[0].last_seq) };
}

/** A slower replica must not lower the number of the same stream. */
const record = (pool: Pool, { name, identity, lastSeq }: StreamState) =>
  pool.query(
    `INSERT INTO run_streams AS s (name, identity, last_seq) VALUES ($1, $2, $3) ON CONFLICT (name) DO UPDATE
     SET identity = $2, last_seq = CASE WHEN s.identity = $2 THEN greatest(s.last_seq, $3) ELSE $3 END`,
    [name, identity, lastSeq],
  );

/** Every run that an executor holds counts as begun in the statement that records the stream. */
const countAsBegun = (pool: Pool, { name, identity, lastSeq }: StreamState) =>
  pool.query(
    `WITH recorded AS (UPDATE run_streams SET identity = $2, last_seq = $3 WHERE name = $1)
     UPDATE runs SET confirmed = true WHERE status = 'running' AND NOT confirmed`,
    [name, identity, lastSeq],
  );
