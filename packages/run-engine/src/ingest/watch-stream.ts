/**
 * Tracks the incarnation of a service's stream of run events.
 *
 * If a stream was lost, or replaced by an older copy, unread reports are lost with it, possibly the start of a run. So
 * every run that an executor holds counts as started from then on, and none is started a second time. After a mere
 * restart the stream has the same identity, and at least its earlier messages.
 */
import { type Bus, createBacklogMonitor, getStreamState, INGEST_DURABLE, type StreamState } from '@gantry/events';
import { startRepeatingTask } from '@gantry/postgres';
import type { Pool } from 'pg';
import type { Logger } from 'pino';

/** Intervals of checks. The loss of unread messages that are newer than the last check goes unnoticed. */
const CHECK_MS = { inUse: 2_500, idle: 5_000 };

export function watchStream(deps: { bus: Bus; pool: Pool; stream: string; log: Logger }) {
  const { bus, pool, stream, log } = deps;
  const backlog = createBacklogMonitor({ bus, stream, durable: INGEST_DURABLE });
  /** The highest number that this replica has read. */
  let readSeq = 0;
  /** The state at the last check, if that found no loss. */
  let intact: StreamState | undefined;
  let isInUse = true;

  async function checkStream(): Promise<boolean> {
    // Both numbers are read before the stream's state: another replica may save a higher one at any time.
    const [lastKnown, lastReadSeq] = [await findStreamRecord(pool, stream), readSeq];
    const state = await getStreamState(bus, stream);
    if (!state.identity) return false;
    const isReplaced = lastKnown?.identity != null && lastKnown.identity !== state.identity;
    const isLost = isReplaced || state.lastSeq < Math.max(lastKnown?.lastSeq ?? 0, lastReadSeq);
    if (isLost) {
      readSeq = 0;
      await markRunsStarted(pool, state);
      log.error(
        { stream, identity: state.identity, lastSeq: state.lastSeq, known: lastKnown },
        'the run event stream has lost messages: treating active runs as started',
      );
    } else if (lastKnown?.identity !== state.identity || lastKnown.lastSeq < state.lastSeq) {
      await saveStream(pool, state);
    }
    intact = isLost ? undefined : state;
    return isLost;
  }

  /** Reads the table only if the stream has changed since the last check. */
  async function checkForChange() {
    const { identity, lastSeq } = await getStreamState(bus, stream);
    isInUse = identity !== intact?.identity || lastSeq !== intact?.lastSeq || readSeq > lastSeq;
    if (isInUse) await checkStream();
  }

  // While NATS or PostgreSQL is down, other components log it.
  const work = () => checkForChange().catch((err) => log.debug({ err, stream }, 'failed to check the stream'));
  const everyMs = () => (isInUse ? CHECK_MS.inUse : CHECK_MS.idle);
  const checking = startRepeatingTask({ everyMs, work, what: 'stream check', log });

  return {
    /** Compares the stream with its last known state. @returns true if reports may be lost */
    checkStream,
    /** Records that a message with this number was read. */
    onRead(seq: number) {
      readSeq = Math.max(readSeq, seq);
    },
    /** Returns whether every message was read by a replica, and none was lost. */
    isConsumed: async () => !(await checkStream()) && backlog.isConsumed(),
    stop: () => checking.stop(),
  };
}

interface KnownStream {
  /** Null: saved by an earlier version. */
  identity: string | null;
  lastSeq: number;
}

async function findStreamRecord(pool: Pool, stream: string): Promise<KnownStream | undefined> {
  const { rows } = await pool.query('SELECT identity, last_seq FROM run_streams WHERE name = $1', [stream]);
  return rows[0] && { identity: rows[0].identity, lastSeq: Number(rows[0].last_seq) };
}

/** A slower replica must not lower the number of the same stream. */
const saveStream = (pool: Pool, { name, identity, lastSeq }: StreamState) =>
  pool.query(
    `INSERT INTO run_streams AS s (name, identity, last_seq) VALUES ($1, $2, $3) ON CONFLICT (name) DO UPDATE
     SET identity = $2, last_seq = CASE WHEN s.identity = $2 THEN greatest(s.last_seq, $3) ELSE $3 END`,
    [name, identity, lastSeq],
  );

/** Marks every run that an executor holds as started, in the statement that saves the stream. */
const markRunsStarted = (pool: Pool, { name, identity, lastSeq }: StreamState) =>
  pool.query(
    `WITH recorded AS (UPDATE run_streams SET identity = $2, last_seq = $3 WHERE name = $1)
     UPDATE runs SET confirmed = true WHERE status = 'running' AND NOT confirmed`,
    [name, identity, lastSeq],
  );
