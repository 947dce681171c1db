/**
 * Transactional outbox: an event is published if and only if its change commits.
 *
 * A change and its event are written in one transaction (`enqueue`), whose commit wakes the relay of its database; if
 * the process dies before that, another relay's poll finds the row. A row leaves the outbox once JetStream has stored
 * the message; a crash in between publishes it again under the same `Nats-Msg-Id`, which JetStream drops, as every
 * consumer's inbox does.
 *
 * JetStream acknowledges a message up to two minutes before it is on disk. Published events are therefore kept for
 * RETENTION_MINUTES, and published again to a server process that has not received them: after a crash, or a restored
 * backup, which holds no streams.
 */
import { afterCommit, deleteOldRows, execute, getPool, pollForWork, type Tx, transaction } from '@gantry/postgres';
import { ErrorCode, NatsError } from 'nats';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { type Bus, encode } from './bus';
import { buildEventSubject, type EventType, type Service } from './catalogue';
import { watchConnection } from './connection-watch';
import { newId } from './id';
import { assertConsumersReady, IncompleteStreamError } from './streams';

/** Time that JetStream may take to store a message. */
const PUBLISH_TIMEOUT_MS = 5_000;

export interface Envelope {
  id: string;
  type: string;
  workspaceId: string;
  traceparent: string | null;
  data: unknown;
}

/** Values of a row of `outbox`, in the order of OUTBOX_INSERT. */
export function buildOutboxRow<T extends z.ZodType>(
  event: EventType<T>,
  workspaceId: string,
  data: z.input<T>,
  traceparent?: string,
): [id: string, type: string, workspaceId: string, traceparent: string | null, data: string] {
  return [newId('evt_'), event.type, workspaceId, traceparent ?? null, JSON.stringify(event.data.parse(data))];
}

/** Start of a statement that creates its events in SQL; the caller kicks the relay after the commit. */
export const OUTBOX_INSERT = 'INSERT INTO outbox (id, type, workspace_id, traceparent, data)';

/** Writes the event inside the caller's transaction, and publishes it after the commit. */
export async function enqueue<T extends z.ZodType>(
  tx: Tx,
  event: EventType<T>,
  workspaceId: string,
  data: z.input<T>,
  traceparent?: string,
): Promise<void> {
  const row = buildOutboxRow(event, workspaceId, data, traceparent);
  await execute(tx, `${OUTBOX_INSERT} VALUES ($1, $2, $3, $4, $5::jsonb)`, row);
  const relay = relays.get(getPool(tx));
  if (relay) afterCommit(tx, relay.kick);
}

export interface Relay {
  /**
   * For code that writes to the outbox with its own SQL; `enqueue` does it. Calls within KICK_DELAY_MS, or ROUND_MS of
   * a round, share one round.
   */
  kick(): void;
  stop(): Promise<void>;
}

/** Maps each database of this process to its relay. */
const relays = new WeakMap<Pool, Relay>();

/** Between rounds without events: a restarted server, or rows to sweep, are noticed within this time. */
const IDLE_MS = 5_000;
/** Nothing waits for a domain event; batching commits into one round keeps its cost off the run path. */
const KICK_DELAY_MS = 20;
/** Under a continuous stream of events: from the start of one round to the next. */
const ROUND_MS = 100;
const BATCH = 200;
/** Time within which all services of an installation start. */
const STARTUP_MS = 30_000;

/** More than the server's `sync_interval`, two minutes. */
const RETENTION_MINUTES = 5;
const SWEEP_MS = 60_000;

const COLUMNS = 'id, type, workspace_id, traceparent, data, created_at';
/** The array is computed once. Of `IN (SELECT …)`, a plan made for a small table computes it for each row. */
const MOVE_BATCH = {
  name: 'outbox-take',
  text: `WITH taken AS (
      DELETE FROM outbox WHERE id = ANY(ARRAY(SELECT id FROM outbox ORDER BY created_at LIMIT $1 FOR UPDATE SKIP LOCKED))
      RETURNING ${COLUMNS}
    ), kept AS (
      INSERT INTO published_events (${COLUMNS}, server) SELECT ${COLUMNS}, $2 FROM taken
    )
    SELECT ${COLUMNS} FROM taken`,
};
const REQUEUE_PUBLISHED = `WITH back AS (DELETE FROM published_events WHERE server <> $1 RETURNING ${COLUMNS})
  INSERT INTO outbox (${COLUMNS}) SELECT ${COLUMNS} FROM back`;
const BACKLOG = `SELECT count(*)::int AS events, min(created_at) AS "oldestAt",
    coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS "oldestSeconds"
  FROM (SELECT created_at FROM outbox ORDER BY created_at LIMIT 10000) oldest`;
const EVENTS_DUE_AT = '(SELECT now() FROM outbox LIMIT 1)';

/** Counts events that are committed and not yet published, up to 10,000. */
export async function loadOutboxBacklog(
  pool: Pool,
): Promise<{ events: number; oldestAt: Date | null; oldestSeconds: number }> {
  return (await pool.query(BACKLOG)).rows[0];
}

/** NATS has no responder while no stream accepts the subject. */
const isStreamMissing = (err: unknown): boolean =>
  err instanceof IncompleteStreamError || (err instanceof NatsError && err.code === ErrorCode.NoResponders);

export function startRelay(options: { pool: Pool; bus: Bus; service: Service; log: Logger }): Relay {
  const { pool, bus, service, log } = options;
  let timer: NodeJS.Timeout | undefined;
  let dueAt = 0;
  /** Rounds follow each other: each holds a connection of the pool, for as long as NATS takes. */
  let isRelaying = false;
  let lastRoundAt = 0;
  let kicked = true;
  let stopped = false;
  let published = false;
  /** The server process that is known to have all events of `published_events`. */
  let server = '';
  let sweptAt = Date.now();
  const startedAt = Date.now();
  let round: Promise<void> = Promise.resolve();

  function schedule(delayMs: number) {
    const at = Date.now() + delayMs;
    if (stopped || isRelaying || (timer && dueAt <= at)) return;
    clearTimeout(timer);
    dueAt = at;
    timer = setTimeout(() => {
      timer = undefined;
      round = relayUntilEmpty();
    }, delayMs);
  }

  async function relayUntilEmpty() {
    lastRoundAt = Date.now();
    // The reconnection schedules the next round.
    if (!connection.isUp()) return;
    isRelaying = true;
    try {
      await requeueIfServerChanged();
      if (Date.now() - sweptAt >= SWEEP_MS) await sweep();
      if (kicked) {
        kicked = false;
        while (!stopped && (await relayBatch()) === BATCH);
      }
    } catch (err) {
      // worker-api creates the streams, and may start after this process.
      const isStarting = !published && isStreamMissing(err) && Date.now() - startedAt < STARTUP_MS;
      log[isStarting ? 'debug' : 'warn']({ err }, 'outbox relay: will try again');
    }
    isRelaying = false;
    schedule(kicked ? getKickDelay() : IDLE_MS);
  }

  const getKickDelay = () => Math.max(KICK_DELAY_MS, lastRoundAt + ROUND_MS - Date.now());

  async function requeueIfServerChanged() {
    const present = bus.nc.info?.server_id ?? '';
    if (present === server) return;
    // A server that was killed may have lost a consumer, and would acknowledge and drop what that consumer must
    // receive.
    await assertConsumersReady(bus);
    server = present;
    await requeuePublished();
  }

  async function requeuePublished() {
    const { rowCount } = await pool.query(REQUEUE_PUBLISHED, [server]);
    if (!rowCount) return;
    kicked = true;
    log.info({ events: rowCount }, 'NATS was restarted: publishing the latest events again');
  }

  async function sweep() {
    // A replica that has ended may have published to the server before.
    await requeuePublished();
    await deleteOldRows(pool, 'published_events', `published_at < now() - interval '${RETENTION_MINUTES} minutes'`);
    sweptAt = Date.now();
  }

  function relayBatch(): Promise<number> {
    return transaction(pool, async (tx) => {
      const { rows } = await tx.query({ ...MOVE_BATCH, values: [BATCH, server] });
      rows.sort((a, b) => a.created_at - b.created_at);
      await Promise.all(rows.map((row) => publish(row)));
      return rows.length;
    });
  }

  async function publish(row: Record<string, unknown>) {
    const envelope = {
      specversion: '1.0',
      id: row.id,
      type: row.type,
      source: `/gantry/${service}`,
      time: (row.created_at as Date).toISOString(),
      datacontenttype: 'application/json',
      workspaceid: row.workspace_id,
      ...(row.traceparent ? { traceparent: row.traceparent } : {}),
      data: row.data,
    };
    const subject = buildEventSubject({ type: String(row.type) }, service);
    // Another process may have stored it on a server that lost it, and JetStream would drop the same id.
    await bus.store(subject, encode(envelope), `${row.id}/${server}`, PUBLISH_TIMEOUT_MS);
    published = true;
  }

  const connection = watchConnection(bus.nc, (isUp) => {
    if (isUp) schedule(0);
  });
  const kick = () => {
    kicked = true;
    schedule(getKickDelay());
  };
  kick();
  const polling = pollForWork({ pool, dueAt: EVENTS_DUE_AT, work: kick, what: 'outbox', log });
  const relay: Relay = {
    kick,
    stop: async () => {
      stopped = true;
      if (relays.get(pool) === relay) relays.delete(pool);
      connection.stop();
      clearTimeout(timer);
      await polling.stop();
      await round;
    },
  };
  relays.set(pool, relay);
  return relay;
}
