/**
 * Consumes domain events, each exactly once.
 *
 * A handler runs in the transaction that also writes its inbox row, and the message is acknowledged after the commit:
 * after a crash in between it is delivered again and the inbox row drops it. A message that violates its schema is
 * terminated and counted. A service consumes each kind of event once and dispatches it to all reactions; each reaction
 * has its own transaction and inbox row, so a failed one is retried without the others.
 */
import { deleteOldRows, transaction } from '@gantry/postgres';
import type { JsMsg } from 'nats';
import type { Pool, PoolClient } from 'pg';
import type { Logger } from 'pino';
import { z } from 'zod';
import { type Bus, decode } from './bus';
import type { EventType, Service } from './catalogue';
import { buildDurableName, consumeDurable, EVENTS_STREAM } from './streams';

export interface ReceivedEvent<T> {
  id: string;
  workspaceId: string;
  /** Time of the commit. */
  at: Date;
  data: T;
}

export interface Consumer {
  stop(): Promise<void>;
}

export interface EventHandler<T> {
  /** Part of its inbox rows: after a rename, old events are handled again. */
  name: string;
  /**
   * Returns false if there is nothing to do for this event, which saves a transaction. Default: true. May take time:
   * later events are evaluated meanwhile.
   */
  wants?: (data: T, workspaceId: string) => boolean | Promise<boolean>;
  handle: (tx: PoolClient, received: ReceivedEvent<T>) => Promise<void>;
}

/** The reaction of one part of a service to one kind of event. */
export type EventHandlerFor<Event extends EventType> = EventHandler<z.infer<Event['data']>>;

interface ConsumerOptions<T extends z.ZodType> {
  bus: Bus;
  pool: Pool;
  /** The event's catalogue entry must name it as a consumer. */
  service: Service;
  event: EventType<T>;
  log: Logger;
}

const envelope = z.object({ id: z.string(), workspaceid: z.string(), time: z.coerce.date(), data: z.unknown() });

const RETRY_MS = 2_000;
/** Events evaluated together; their transactions run one after another. */
const CONCURRENCY_MAX = 200;

/** Consumes an event with a single reaction. */
export const consumeWithSingleHandler = <T extends z.ZodType>(
  options: ConsumerOptions<T> & Omit<EventHandler<z.infer<T>>, 'name'>,
): Consumer => consumeEvent({ ...options, reactions: [{ ...options, name: '' }] });

/**
 * Events consumed by each connection. Two consumers of one event would split its messages, and each would miss some.
 */
const consumedEvents = new WeakMap<Bus, Set<string>>();

/**
 * Starts the durable consumer of a service and event; replicas share its messages. It may be created later: see
 * streams.ts.
 */
export function consumeEvent<T extends z.ZodType>(
  options: ConsumerOptions<T> & { reactions: EventHandler<z.infer<T>>[] },
): Consumer {
  const { bus, pool, service, event, reactions, log } = options;
  const durable = buildDurableName(service, event);
  if (!event.consumers.includes(service))
    throw new Error(`the catalogue does not list ${service} as a consumer of ${event.type}`);
  const consumedDurables = consumedEvents.get(bus) ?? new Set();
  if (consumedDurables.has(durable))
    throw new Error(`${durable} already has a consumer: pass both reactions to one consumeEvent()`);
  consumedEvents.set(bus, consumedDurables.add(durable));

  async function receive(message: JsMsg) {
    let received: ReceivedEvent<z.infer<T>>;
    try {
      const { id, workspaceid, time, data } = decode(envelope, message.data);
      received = { id, workspaceId: workspaceid, at: time, data: event.data.parse(data) };
    } catch (err) {
      log.error({ err, subject: message.subject, seq: message.seq }, 'event discarded: it does not match its schema');
      return message.term();
    }
    const outcomes = await Promise.allSettled(reactions.map((reaction) => runHandler(reaction, received)));
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (!failed) return message.ack();
    log.warn({ err: failed.reason, subject: message.subject }, 'event not consumed: will try again');
    message.nak(RETRY_MS);
  }

  /** Settles when the previous transactions have ended. */
  let turn: Promise<void> = Promise.resolve();

  async function runHandler(handler: EventHandler<z.infer<T>>, received: ReceivedEvent<z.infer<T>>): Promise<void> {
    const { wants = () => true } = handler;
    if (!(await wants(received.data, received.workspaceId))) return;
    const mine = turn.then(() => handleOnce(handler, received));
    turn = mine.catch(() => {});
    await mine;
  }

  function handleOnce({ name, handle }: EventHandler<z.infer<T>>, received: ReceivedEvent<z.infer<T>>): Promise<void> {
    return transaction(pool, async (tx) => {
      const fresh = await tx.query('INSERT INTO inbox (consumer, event_id) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
        name ? `${durable}:${name}` : durable,
        received.id,
      ]);
      if (fresh.rowCount) await handle(tx, received);
    });
  }

  const inFlight = new Set<Promise<void>>();
  const fetching = consumeDurable({
    bus,
    durable,
    log,
    stream: EVENTS_STREAM,
    messagesMax: CONCURRENCY_MAX,
    onMessage: async (message) => {
      const processing = receive(message)
        .catch((err) => log.error({ err }, 'event not consumed'))
        .finally(() => inFlight.delete(processing));
      inFlight.add(processing);
      if (inFlight.size >= CONCURRENCY_MAX) await Promise.race(inFlight);
    },
  });
  return {
    stop: async () => {
      consumedDurables.delete(durable);
      await fetching.stop();
      await Promise.all(inFlight);
    },
  };
}

/** JetStream keeps events for three days: an older one cannot be redelivered. */
export const sweepInbox = (pool: Pool): Promise<unknown> =>
  deleteOldRows(pool, 'inbox', "received_at < now() - interval '7 days'");
