/**
 * Manages JetStream's streams and consumers, and recreates them after their store is lost.
 *
 * JetStream acknowledges before it has written to disk, and its store can fill up or be deleted. It is therefore never
 * the only copy of any data: domain events stay in their outbox until they are stored, and executors keep their reports
 * until they are in the tables. A stream holds unconsumed messages only; a full one refuses new messages, which then
 * wait at their source.
 *
 * Only worker-api creates streams and consumers, and recreates them within seconds of their loss. A user that may
 * define a consumer can make JetStream deliver any message to any subject, bypassing all permissions; the other
 * services may therefore only fetch and acknowledge their own messages.
 */
import { describeClockProblem, getAlignedDelay } from '@gantry/env';
import {
  AckPolicy,
  type ConsumerInfo,
  type ConsumerMessages,
  DeliverPolicy,
  DiscardPolicy,
  type JetStreamManager,
  type JsMsg,
  NatsError,
  nuid,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
  type StreamInfo,
} from 'nats';
import type { Logger } from 'pino';
import type { Bus } from './bus';
import { buildEventSubject, buildEventSubjectPattern, type EventType, eventCatalogue, type Service } from './catalogue';
import { watchConnection } from './connection-watch';
import { type RunSource, runSources, runSubjects } from './run-protocol';

export const EVENTS_STREAM = 'EVENTS';
export const getRunEventsStreamName = (source: RunSource): string => `RUN_EVENTS_${source.toUpperCase()}`;

export const buildDurableName = (service: Service, { type }: Pick<EventType, 'type'>): string =>
  `${service}-${type.replaceAll('.', '-')}`;
export const INGEST_DURABLE = 'ingest';

/** A message is redelivered after this time without an acknowledgement, such as that of a dead replica. */
export const ACK_WAIT_MS = 10_000;
/** Interval between checks of the streams. */
const CHECK_INTERVAL_MS = 5_000;
/** A stream this full is about to refuse messages. */
const FULL_RATIO = 0.95;

const NS_PER_MS = 1_000_000;
const HOUR_NS = 3_600_000 * NS_PER_MS;
const UNACKNOWLEDGED_MAX = 2_000;

export interface StreamPlan {
  name: string;
  config: Pick<StreamConfig, 'subjects' | 'retention' | 'max_age' | 'max_bytes' | 'discard' | 'duplicate_window'>;
  consumers: { service: Service; durable: string; filter: string }[];
}

/** Messages refused by a full stream are never lost: outboxes and executors keep them. */
const DISCARD_NEW = { discard: DiscardPolicy.New, duplicate_window: 120_000 * NS_PER_MS };

const events: StreamPlan = {
  name: EVENTS_STREAM,
  config: {
    ...DISCARD_NEW,
    subjects: eventCatalogue.flatMap((event) =>
      event.publishers.map((publisher) => buildEventSubject(event, publisher)),
    ),
    // A message is removed once every service that consumes its event has acknowledged it.
    retention: RetentionPolicy.Interest,
    max_age: 72 * HOUR_NS,
    max_bytes: 1 << 30,
  },
  consumers: eventCatalogue.flatMap((event) =>
    event.consumers.map((service) => ({
      service,
      durable: buildDurableName(service, event),
      filter: buildEventSubjectPattern(event),
    })),
  ),
};

const buildRunEventsPlan = (source: RunSource): StreamPlan => ({
  name: getRunEventsStreamName(source),
  config: {
    ...DISCARD_NEW,
    subjects: [runSubjects.events(source, '*', '*')],
    retention: RetentionPolicy.Workqueue,
    max_age: 24 * HOUR_NS,
    max_bytes: 1 << 30,
  },
  consumers: [
    {
      service: `${source}-api`,
      durable: INGEST_DURABLE,
      filter: runSubjects.events(source, '*', '*'),
    },
  ],
});

export const streamPlans: StreamPlan[] = [events, ...runSources.map(buildRunEventsPlan)];

export interface StreamState {
  name: string;
  messages: number;
  bytes: number;
  bytesMax: number;
  lastSeq: number;
  /** Identifies this incarnation of the stream; absent until worker-api has assigned one. */
  identity?: string | undefined;
  /** By the server's clock; absent: a server before 2.10. */
  now?: Date | undefined;
}

/** @throws NatsError if JetStream does not answer, or the stream is missing */
export async function getStreamState(bus: Bus, name: string): Promise<StreamState> {
  const manager = await bus.nc.jetstreamManager({ checkAPI: false });
  const { state, config, ts }: StreamInfo & { ts?: string } = await manager.streams.info(name);
  return {
    name,
    messages: state.messages,
    bytes: state.bytes,
    bytesMax: config.max_bytes,
    lastSeq: state.last_seq,
    identity: config.description || undefined,
    now: ts ? new Date(ts) : undefined,
  };
}

/** Counts messages that a consumer has not acknowledged. */
export async function countBacklog(bus: Bus, stream: string, durable: string): Promise<number> {
  const manager = await bus.nc.jetstreamManager({ checkAPI: false });
  const { num_pending, num_ack_pending } = await manager.consumers.info(stream, durable);
  return num_pending + num_ack_pending;
}

/**
 * Creates a health check.
 * @returns a problem that does not end readiness
 * @throws Error while a stream is missing, or is about to refuse messages
 */
export const createStreamsCheck = (bus: Bus, names: string[]) => async (): Promise<string | undefined> => {
  const askedAt = Date.now();
  const states = await Promise.all(names.map((name) => getStreamState(bus, name)));
  for (const state of states) {
    if (state.bytes < state.bytesMax * FULL_RATIO) continue;
    throw new Error(`the stream ${state.name} is full: ${state.bytes} of ${state.bytesMax} bytes`);
  }
  const now = states[0]?.now;
  return now && describeClockProblem('NATS', now, askedAt);
};

/**
 * Creates the streams and their consumers, and recreates missing ones. Resolves when they exist, or the first attempt
 * has failed.
 * @param options.replicas copies of each message in a cluster of NATS servers; existing streams change to this number
 */
export async function ensureStreams(options: { bus: Bus; log: Logger; replicas?: number }): Promise<{ stop(): void }> {
  const { bus, log, replicas = 1 } = options;
  const manager = await bus.nc.jetstreamManager({ checkAPI: false });
  /** Maps a stream's name to the server process that it was created on. */
  const createdOn = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let checking: Promise<void> = Promise.resolve();

  async function checkStreams() {
    clearTimeout(timer);
    for (const plan of streamPlans) {
      try {
        const server = bus.nc.info?.server_id ?? '';
        const createdOnServer = createdOn.get(plan.name);
        const isMissing = createdOnServer !== undefined && !(await isStreamIntact(manager, plan));
        if (createdOnServer === server && !isMissing) continue;
        if (isMissing) log.error({ stream: plan.name }, 'recreated a missing stream or its missing consumers');
        const ahead = await ensureStream(manager, plan, replicas);
        if (ahead.size)
          log.error(
            { stream: plan.name, consumers: [...ahead] },
            'a stream had lost its latest messages; its consumers have been recreated',
          );
        createdOn.set(plan.name, server);
      } catch (err) {
        if (!stopped)
          log.warn({ err, stream: plan.name }, `could not check a stream: ${describeFailure(err)}; will try again`);
      }
    }
    if (!stopped) timer = setTimeout(scheduleCheck, getAlignedDelay(CHECK_INTERVAL_MS));
  }

  function scheduleCheck() {
    checking = checking.then(checkStreams);
  }

  const connection = watchConnection(bus.nc, (isUp) => {
    if (isUp) scheduleCheck();
  });
  scheduleCheck();
  await checking;
  return {
    stop: () => {
      stopped = true;
      connection.stop();
      clearTimeout(timer);
    },
  };
}

export class IncompleteStreamError extends Error {}

/**
 * Asserts that all consumers exist. A service newer than worker-api waits until that has created the consumers of its
 * version.
 * @throws IncompleteStreamError while the stream of domain events, or one of its consumers, is missing or would
 * receive nothing, and until the stream accepts messages
 */
export async function assertConsumersReady(bus: Bus): Promise<void> {
  const manager = await bus.nc.jetstreamManager({ checkAPI: false });
  const { present, ahead, isOpen } = await loadConsumers(manager, EVENTS_STREAM).catch(
    (err) => nullIfMissing(err) ?? NO_CONSUMERS,
  );
  const receiving = present.size - ahead.size;
  if (receiving < events.consumers.length)
    throw new IncompleteStreamError(`${EVENTS_STREAM} has ${receiving} of ${events.consumers.length} consumers`);
  if (!isOpen) throw new IncompleteStreamError(`${EVENTS_STREAM} is not open yet`);
}

/**
 * Lists the consumers of a stream by name. Those in `ahead` have positions beyond its end: a killed server may keep a
 * position and lose the messages before it, and would treat new messages with their numbers as acknowledged.
 */
async function loadConsumers(manager: JetStreamManager, stream: string) {
  const present = new Map<string, ConsumerInfo>();
  for await (const consumer of manager.consumers.list(stream)) present.set(consumer.name, consumer);
  // Read after the positions, which follow it.
  const { state, config } = await manager.streams.info(stream);
  const isAhead = ({ delivered }: ConsumerInfo) => delivered.stream_seq > state.last_seq;
  const ahead = new Set([...present.values()].filter(isAhead).map(({ name }) => name));
  return { present, ahead, isOpen: isOpen(config) };
}

async function isStreamIntact(manager: JetStreamManager, plan: StreamPlan): Promise<boolean> {
  const info = await manager.streams.info(plan.name).catch(nullIfMissing);
  return info !== null && isComplete(info, plan);
}

const isComplete = ({ state, config }: StreamInfo, { consumers }: StreamPlan): boolean =>
  state.consumer_count === consumers.length && isOpen(config);

const isOpen = ({ max_msg_size }: Pick<StreamConfig, 'max_msg_size'>): boolean => max_msg_size === OPEN.max_msg_size;

const NO_CONSUMERS = { present: new Map<string, ConsumerInfo>(), ahead: new Set<string>(), isOpen: false };

/** No message is this small, so the stream accepts none. */
const CLOSED = { max_msg_size: 1 };
const OPEN = { max_msg_size: -1 };

/**
 * Creates the stream, or updates what differs. Two replicas that do so at once request the same. A stream accepts
 * messages only while all its consumers exist: otherwise it would acknowledge and drop messages without a consumer.
 * @returns the consumers that were ahead of the stream and were recreated
 */
async function ensureStream(manager: JetStreamManager, plan: StreamPlan, replicas: number): Promise<Set<string>> {
  const { name, config, consumers } = plan;
  const existing = await manager.streams.info(name).catch(nullIfMissing);
  const description = toStreamIdentity(existing);
  const desired = { ...config, ...OPEN, name, description, storage: StorageType.File, num_replicas: replicas };
  let { present, ahead } = existing ? await loadConsumers(manager, name) : NO_CONSUMERS;
  const isUpToDate = existing !== null && isComplete(existing, plan) && !ahead.size;
  const initial = isUpToDate ? desired : { ...desired, ...CLOSED };
  if (!existing) {
    // Another replica created the stream with its own identity: use that one.
    if (!(await tryAddStream(manager, initial))) return ensureStream(manager, plan, replicas);
  } else if (hasChanges(existing.config, initial)) {
    await manager.streams.update(name, initial);
  }
  // Another replica may have recreated them meanwhile.
  if (ahead.size) ({ present, ahead } = await loadConsumers(manager, name));
  const durables = new Set(consumers.map(({ durable }) => durable));
  for (const durable of present.keys()) {
    if (!durables.has(durable) || ahead.has(durable)) await manager.consumers.delete(name, durable);
  }
  for (const { durable, filter } of consumers) {
    const consumer = {
      durable_name: durable,
      filter_subject: filter,
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
      ack_wait: ACK_WAIT_MS * NS_PER_MS,
      max_ack_pending: UNACKNOWLEDGED_MAX,
    };
    const config = ahead.has(durable) ? undefined : present.get(durable)?.config;
    // The server rewrites even an identical consumer, and could lose it if it is killed meanwhile.
    if (hasChanges(config ?? {}, consumer)) await manager.consumers.add(name, consumer);
  }
  if (!isUpToDate) await manager.streams.update(name, desired);
  return ahead;
}

/**
 * The server's own creation time does not identify a stream: once a stream has been updated, the next restart of the
 * server changes it. The description is kept with the stream's configuration. A stream without one is from an earlier
 * version; its identity is derived, so that all replicas assign the same.
 */
const toStreamIdentity = (existing: StreamInfo | null): string =>
  existing ? existing.config.description || `created ${existing.created}` : `incarnation ${nuid.next()}`;

const hasChanges = (config: object, desired: object): boolean => {
  const present = new Map<string, unknown>(Object.entries(config));
  return Object.entries(desired).some(([key, value]) => JSON.stringify(present.get(key)) !== JSON.stringify(value));
};

/** JetStream's error code for a stream that exists with another configuration. */
const NAME_IN_USE = 10_058;

async function tryAddStream(manager: JetStreamManager, config: Partial<StreamConfig>): Promise<boolean> {
  try {
    await manager.streams.add(config);
    return true;
  } catch (err) {
    if (err instanceof NatsError && err.api_error?.err_code === NAME_IN_USE) return false;
    throw err;
  }
}

/** JetStream's error codes for copies that a single server, or too few servers, can't hold. */
const TOO_FEW_SERVERS = new Set([10_074, 10_005]);

const describeFailure = (err: unknown): string =>
  err instanceof NatsError && TOO_FEW_SERVERS.has(err.api_error?.err_code ?? 0)
    ? 'NATS_STREAM_REPLICAS exceeds the number of servers in the NATS cluster'
    : 'JetStream refused the request';

/** JetStream's error codes for a missing stream and a missing consumer. */
const MISSING = new Set([10_059, 10_014]);

function nullIfMissing(err: unknown): null {
  if (err instanceof NatsError && MISSING.has(err.api_error?.err_code ?? 0)) return null;
  throw err;
}

const STARTUP_MS = 30_000;
const RETRY_MS = 500;
const PULL_MS = 20_000;
/**
 * Interval of heartbeats while there are no messages. After two missed in a row the consumer is checked: a server may
 * have lost it without breaking the connection. A deletion is noticed immediately.
 */
const HEARTBEAT_MS = 5_000;

/**
 * Delivers the messages of a durable consumer, surviving its loss and recreation.
 * @param options.onOpen called before the first message each time the consumer has been found
 */
export function consumeDurable(options: {
  bus: Bus;
  stream: string;
  durable: string;
  /** Prefetch limit. */
  messagesMax: number;
  onOpen?: () => Promise<void>;
  onMessage: (message: JsMsg) => void | Promise<void>;
  log: Logger;
}): { stop(): Promise<void> } {
  const { bus, stream, durable, log } = options;
  const startedAt = Date.now();
  let stopped = false;
  let messages: ConsumerMessages | undefined;
  let wake = () => {};

  async function consume() {
    const consumer = await bus.js.consumers.get(stream, durable);
    await options.onOpen?.();
    if (stopped) return;
    messages = await consumer.consume({
      max_messages: options.messagesMax,
      expires: PULL_MS,
      idle_heartbeat: HEARTBEAT_MS,
      abort_on_missing_resource: true,
    });
    for await (const message of messages) await options.onMessage(message);
  }

  // Otherwise the client would keep waiting for heartbeats.
  void bus.nc.closed().then(() => messages?.close());
  const loop = (async () => {
    while (!stopped) {
      await consume().catch((err) => {
        if (stopped || bus.nc.isClosed()) return;
        // worker-api creates the streams, and may start after this process.
        const isStarting = !messages && Date.now() - startedAt < STARTUP_MS;
        log[isStarting ? 'debug' : 'warn']({ err, stream, durable }, 'could not fetch messages; will try again');
      });
      if (stopped || bus.nc.isClosed()) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, RETRY_MS).unref();
      });
    }
  })();

  return {
    stop: async () => {
      stopped = true;
      wake();
      await messages?.close();
      await loop;
    },
  };
}
