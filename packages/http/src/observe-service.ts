/**
 * Provides a service's health and its dependencies' metrics: read at each scrape, absent while a dependency is down.
 */
import {
  type Bus,
  countBacklog,
  createStreamsCheck,
  getStreamState,
  loadOutboxBacklog,
  type Service,
  streamPlans,
} from '@gantry/events';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { createHealth, createPostgresCheck, type Health } from './health';
import { registerGauges } from './metrics';

export interface ObservedService {
  service: Service;
  pool: Pool;
  bus: Bus;
  /** Names of the streams whose size this service watches. */
  streams: string[];
  /** Absent: it has none. */
  objects?: { check(): Promise<void> };
}

/** A process is one service. */
let observedService: (ObservedService & { health: Health }) | undefined;

/** @returns its health, and `unobserve`, which ends the metrics */
export function observeService(service: ObservedService, log: Logger) {
  const { pool, bus, streams, objects } = service;
  const checks = createHealth(
    {
      postgres: createPostgresCheck(pool),
      nats: () => bus.nc.flush(),
      ...(streams.length && { jetstream: createStreamsCheck(bus, streams) }),
      ...(objects && { object_store: () => objects.check() }),
    },
    { optionalDependencies: ['nats', 'jetstream', 'object_store'], log },
  );
  const ownService = { ...service, health: checks };
  observedService = ownService;
  const stopObserving = () => {
    if (observedService === ownService) observedService = undefined;
  };
  return { checks, unobserve: stopObserving };
}

const withObservedService =
  <Set>(read: (service: NonNullable<typeof observedService>, set: Set) => Promise<unknown>) =>
  async (set: Set) =>
    observedService && read(observedService, set);

registerGauges(
  ['dependency'],
  { gantry_dependency_up: '1 if the service can reach the dependency, 0 if not' },
  withObservedService(async ({ health }, set) => {
    for (const { name, up } of await health.dependencies()) set.gantry_dependency_up({ dependency: name }, up ? 1 : 0);
  }),
);

registerGauges(
  ['state'],
  { gantry_postgres_connections: 'PostgreSQL connections, in use by a request or idle' },
  withObservedService(async ({ pool }, set) => {
    set.gantry_postgres_connections({ state: 'used' }, pool.totalCount - pool.idleCount);
    set.gantry_postgres_connections({ state: 'idle' }, pool.idleCount);
  }),
);

registerGauges(
  [],
  {
    gantry_postgres_connections_max: 'Maximum number of connections in the pool',
    gantry_postgres_waiting: 'Requests waiting for a connection because all are in use',
  },
  withObservedService(async ({ pool }, set) => {
    set.gantry_postgres_connections_max({}, pool.options.max);
    set.gantry_postgres_waiting({}, pool.waitingCount);
  }),
);

registerGauges(
  [],
  {
    gantry_outbox_events: 'Committed events not yet published; at most 10,000 are counted',
    gantry_outbox_oldest_seconds: 'Age of the oldest event not yet published; 0 if there is none',
  },
  withObservedService(async ({ pool }, set) => {
    const { events, oldestSeconds } = await loadOutboxBacklog(pool);
    set.gantry_outbox_events({}, events);
    set.gantry_outbox_oldest_seconds({}, oldestSeconds);
  }),
);

registerGauges(
  ['stream'],
  {
    gantry_stream_bytes: 'Size of a JetStream stream',
    gantry_stream_bytes_max: 'Size at which a stream rejects new messages',
    gantry_stream_messages: 'Messages in a stream that a consumer has not yet acknowledged',
  },
  withObservedService(({ bus, streams }, set) =>
    Promise.all(
      streams.map(async (stream) => {
        const { bytes, bytesMax, messages } = await getStreamState(bus, stream);
        set.gantry_stream_bytes({ stream }, bytes);
        set.gantry_stream_bytes_max({ stream }, bytesMax);
        set.gantry_stream_messages({ stream }, messages);
      }),
    ),
  ),
);

registerGauges(
  ['stream', 'consumer'],
  { gantry_consumer_pending_messages: "Messages in a stream that this service's consumer has not yet acknowledged" },
  withObservedService(({ service, bus }, set) => {
    const own = streamPlans.flatMap(({ name, consumers }) =>
      consumers.flatMap((consumer) =>
        consumer.service === service ? { stream: name, consumer: consumer.durable } : [],
      ),
    );
    return Promise.all(
      own.map(async (labels) =>
        set.gantry_consumer_pending_messages(labels, await countBacklog(bus, labels.stream, labels.consumer)),
      ),
    );
  }),
);
