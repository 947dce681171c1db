/**
 * Tracks the incarnation of a service's stream of run events.
 *
 * If a stream was lost, or replaced by an older copy, unread reports are lost with it, possibly the start of a run. So
 * every run that an executor holds counts as started from then on, and none is started a second time. After a mere
 * restart the stream has the same identity, and at least its earlier messages.
 */
import { type Bus, INGEST_DURABLE, type StreamState, streamState, watchBacklog } from '@gantry/events';
import { type Repeated, repeat } from '@gantry/http';
import type { Pool } from 'pg';
import type { Logger } from 'pino';

/** Interval of checks: the loss of unread messages of the last seconds goes unnoticed. */
const NOTE_MS = 3_000;

export interface StreamWatch {
  /** Compares the stream with its last known state. @returns true if reports may be lost */
  note(): Promise<boolean>;
  /** Records that a message with this number was read. */
  saw(seq: number): void;
  /** Returns whether every message was read by a replica, and none was lost. */
  isConsumed(): Promise<boolean>;
  stop(): Promise<void>;
}

export function watchStream(deps: { bus: Bus; pool: Pool; stream: string; log: Logger }): StreamWatch {
  const { bus, pool, stream, log } = deps;
  const backlog = watchBacklog({ bus, stream, durable: INGEST_DURABLE });
  /** The highest number that this replica has read. */
  let readSeq = 0;

  async function note(): Promise<boolean> {
    // Both numbers are read before the stream's state: another replica may save a higher one at any time.
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
        'the stream of run events has lost messages: active runs count as started',
      );
    } else if (known?.identity !== state.identity || known.lastSeq < state.lastSeq) {
      await record(pool, state);
    }
    return isLost;
  }

  // While NATS or PostgreSQL is down, other components log it.
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
  /** Null: saved by an earlier version. */
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

/** Marks every run that an executor holds as started, in the statement that saves the stream. */
const countAsBegun = (pool: Pool, { name, identity, lastSeq }: StreamState) =>
  pool.query(
    `WITH recorded AS (UPDATE run_streams SET identity = $2, last_seq = $3 WHERE name = $1)
     UPDATE runs SET confirmed = true WHERE status = 'running' AND NOT confirmed`,
    [name, identity, lastSeq],
  );
