/**
 * Hearing what other services announce, each event once.
 *
 * The handler runs in the transaction that also writes the inbox row, and the message is acknowledged after the commit:
 * a crash in between delivers it again and the inbox row drops it. What breaks its schema is terminated and counted.
 */
import { AckPolicy, type ConsumerMessages, DeliverPolicy, type JsMsg } from 'nats';
import type { Pool, PoolClient } from 'pg';
import type { Logger } from 'pino';
import { z } from 'zod';
import { type Bus, decode } from './bus';
import { EVENTS_STREAM, type EventType } from './catalogue';

export interface Received<T> {
  id: string;
  workspaceId: string;
  data: T;
}

export interface Consumer {
  stop(): Promise<void>;
}

const envelope = z.object({ id: z.string(), workspaceid: z.string(), data: z.unknown() });

const ACK_WAIT_NS = 30_000_000_000;
const RETRY_MS = 2_000;

/** One durable consumer for each service and event; its replicas share the messages. */
export async function consume<T extends z.ZodType>(options: {
  bus: Bus;
  pool: Pool;
  service: string;
  event: EventType<T>;
  /** False: nothing to do for this one, so it needs no transaction. Default: all are wanted. */
  wants?: (data: z.infer<T>) => boolean;
  handle: (tx: PoolClient, received: Received<z.infer<T>>) => Promise<void>;
  log: Logger;
}): Promise<Consumer> {
  const { bus, pool, service, event, wants = () => true, handle, log } = options;
  const durable = `${service}-${event.subject.replaceAll('.', '-')}`;
  const manager = await bus.nc.jetstreamManager({ checkAPI: false });
  await manager.consumers.add(EVENTS_STREAM, {
    durable_name: durable,
    filter_subject: event.subject,
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    ack_wait: ACK_WAIT_NS,
  });

  async function receive(message: JsMsg) {
    let received: Received<z.infer<T>>;
    try {
      const { id, workspaceid, data } = decode(envelope, message.data);
      received = { id, workspaceId: workspaceid, data: event.data.parse(data) };
    } catch (err) {
      log.error({ err, subject: message.subject, seq: message.seq }, 'event breaks its schema: terminated');
      return message.term();
    }
    if (!wants(received.data)) return message.ack();
    const client = await pool.connect();
    try {
      await client.query('BEGIN');
      const fresh = await client.query(
        'INSERT INTO inbox (consumer, event_id) VALUES ($1, $2) ON CONFLICT DO NOTHING',
        [durable, received.id],
      );
      if (fresh.rowCount) await handle(client, received);
      await client.query('COMMIT');
      message.ack();
    } catch (err) {
      await client.query('ROLLBACK').catch(() => {});
      log.warn({ err, subject: message.subject }, 'event not consumed: will try again');
      message.nak(RETRY_MS);
    } finally {
      client.release();
    }
  }

  const consumer = await bus.js.consumers.get(EVENTS_STREAM, durable);
  const messages: ConsumerMessages = await consumer.consume({ max_messages: 50 });
  const loop = (async () => {
    for await (const message of messages) {
      await receive(message).catch((err) => log.error({ err }, 'event not consumed'));
    }
  })();
  return {
    stop: async () => {
      await messages.close();
      await loop;
    },
  };
}
