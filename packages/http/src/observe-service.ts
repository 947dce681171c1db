/**
 * Provides a service's health and its dependencies' metrics: read at each scrape, absent while a dependency is down.
 */
import {
  type Bus,
  consumerBacklog,
  outboxBacklog,
  type Service,
  streamPlans,
  streamState,
  streamsCheck,
} from '@gantry/events';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { type Health, health, postgresCheck } from './health';
import { gaugesReadTogether } from './metrics';

export interface Observed {
  service: Service;
  pool: Pool;
  bus: Bus;
  /** Names of the streams whose size this service watches. */
  streams: string[];
  /** Absent: it has none. */
  objects?: { check(): Promise<void> };
}

/** A process is one service. */
let observed: (Observed & { health: Health }) | undefined;

/** @returns its health, and `unobserve`, which ends the metrics */
export function observeService(service: Observed, log: Logger) {
  const { pool, bus, streams, objects } = service;
  const checks = health(
    {
      postgres: postgresCheck(pool),
      nats: () => bus.nc.flush(),
      ...(streams.length && { jetstream: streamsCheck(bus, streams) }),
      ...(objects && { object_store: () => objects.check() }),
    },
    { degrading: ['nats', 'jetstream', 'object_store'], log },
  );
  const own = { ...service, health: checks };
  observed = own;
  const unobserve = () => {
    if (observed === own) observed = undefined;
  };
  return { checks, unobserve };
}

const whileObserved =
  <Set>(read: (service: NonNullable<typeof observed>, set: Set) => Promise<unknown>) =>
  async (set: Set) =>
    observed && read(observed, set);

gaugesReadTogether(
  ['dependency'],
  { gantry_dependency_up: '1 if the service reaches what it depends on, 0 if not' },
  whileObserved(async ({ health }, set) => {
    for (const { name, up } of await health.dependencies()) set.gantry_dependency_up({ dependency: name }, up ? 1 : 0);
  }),
);

gaugesReadTogether(
  ['state'],
  { gantry_postgres_connections: 'Connections to PostgreSQL: used by a request, or idle' },
  whileObserved(async ({ pool }, set) => {
    set.gantry_postgres_connections({ state: 'used' }, pool.totalCount - pool.idleCount);
    set.gantry_postgres_connections({ state: 'idle' }, pool.idleCount);
  }),
);

gaugesReadTogether(
  [],
  {
    gantry_postgres_connections_max: 'Connections that the pool may open',
    gantry_postgres_waiting: 'Requests that wait for a connection because all are used',
  },
  whileObserved(async ({ pool }, set) => {
    set.gantry_postgres_connections_max({}, pool.options.max);
    set.gantry_postgres_waiting({}, pool.waitingCount);
  }),
);

gaugesReadTogether(
  [],
  {
    gantry_outbox_events: 'Committed events that are not published yet; no more than 10,000 are counted',
    gantry_outbox_oldest_seconds: 'Age of the oldest event that is not published yet; 0 without one',
  },
  whileObserved(async ({ pool }, set) => {
    const { events, oldestSeconds } = await outboxBacklog(pool);
    set.gantry_outbox_events({}, events);
    set.gantry_outbox_oldest_seconds({}, oldestSeconds);
  }),
);

gaugesReadTogether(
  ['stream'],
  {
    gantry_stream_bytes: 'Size of a JetStream stream',
    gantry_stream_bytes_max: 'Size at which a stream refuses messages',
    gantry_stream_messages: 'Messages in a stream: those that a consumer has not acknowledged',
  },
  whileObserved(({ bus, streams }, set) =>
    Promise.all(
      streams.map(async (stream) => {
        const { bytes, bytesMax, messages } = await streamState(bus, stream);
        set.gantry_stream_bytes({ stream }, bytes);
        set.gantry_stream_bytes_max({ stream }, bytesMax);
        set.gantry_stream_messages({ stream }, messages);
      }),
    ),
  ),
);

gaugesReadTogether(
  ['stream', 'consumer'],
  { gantry_consumer_pending_messages: "Messages of a stream that this service's consumer has not acknowledged" },
  whileObserved(({ service, bus }, set) => {
    const own = streamPlans.flatMap(({ name, consumers }) =>
      consumers.flatMap((consumer) =>
        consumer.service === service ? { stream: name, consumer: consumer.durable } : [],
      ),
    );
    return Promise.all(
      own.map(async (labels) =>
        set.gantry_consumer_pending_messages(labels, await consumerBacklog(bus, labels.stream, labels.consumer)),
      ),
    );
  }),
);
