/** Streams with a copy on each of three servers. */
import { setupResource, startNatsCluster, waitUntil } from '@gantry/testing';
import { pino } from 'pino';
import { type Bus, encode } from './bus';
import { alertRaised, buildEventSubject } from './catalogue';
import { buildDurableName, consumeDurable, EVENTS_STREAM, ensureStreams } from './streams';

const log = pino({ level: 'silent' });
const SERVERS = 3;
/**
 * A follower of NATS 2.9 whose catch-up request was lost repeats it after two seconds; until then it cannot become
 * leader, which no state shows. If the leader stops meanwhile, it never catches up.
 */
const CATCH_UP_MS = 5_000;
const CONSUMER = buildDurableName('worker-api', alertRaised);

const cluster = setupResource(
  () => startNatsCluster(SERVERS),
  (one) => one.stop(),
);

/** Retries until it is stored: a first attempt may be stored without a reply. */
const publish = (bus: Bus, id: string) =>
  waitUntil(
    () =>
      bus.js
        .publish(buildEventSubject(alertRaised, 'worker-api'), encode({ id }), { timeout: 2_000 })
        .catch(() => null),
    { what: `${id} is stored` },
  );

/** Returns whether every server has all state of stream and consumer, including the acknowledgement of `sequence`. */
async function isReplicated(bus: Bus, sequence: number): Promise<boolean> {
  const manager = await bus.nc.jetstreamManager({ checkAPI: false });
  const stream = await manager.streams.info(EVENTS_STREAM);
  const consumer = await manager.consumers.info(EVENTS_STREAM, CONSUMER);
  if (consumer.ack_floor.stream_seq < sequence) return false;
  return [stream, consumer].every(({ cluster: group }) => {
    const others = group?.replicas ?? [];
    return others.length === SERVERS - 1 && others.every(({ current, lag = 0 }) => current && lag === 0);
  });
}

test('a running installation scales from one copy to three, and losing a server loses no message', async () => {
  const buses = await Promise.all([cluster.connect(0, 'worker-api'), cluster.connect(1, 'worker-api')]);
  const [first, second] = buses as [Bus, Bus];
  const single = await ensureStreams({ bus: first, log });
  const receivedIds = new Set<string>();
  const reading = consumeDurable({
    bus: second,
    log,
    stream: EVENTS_STREAM,
    durable: CONSUMER,
    messagesMax: 10,
    onMessage: (message) => {
      receivedIds.add(message.json<{ id: string }>().id);
      message.ack();
    },
  });
  await publish(first, 'in one copy');
  await waitUntil(() => receivedIds.size === 1, { what: 'a message is read in one copy' });
  single.stop();
  const streams = await ensureStreams({ bus: second, log, replicas: SERVERS });
  const { seq } = await publish(first, 'in three copies');
  await waitUntil(() => isReplicated(second, seq).catch(() => false), { what: 'three copies' });
  await new Promise((resolve) => setTimeout(resolve, CATCH_UP_MS));

  await first.nc.close();
  await cluster.kill(0);
  await publish(second, 'on two servers');
  await waitUntil(() => receivedIds.size === 3, { what: 'all messages are read' });
  await reading.stop();
  streams.stop();
  await second.nc.close();
});

test('more replicas than servers are refused with the name of the setting', async () => {
  const bus = await cluster.connect(1, 'worker-api');
  const lines: string[] = [];
  const warnLog = pino({ level: 'warn' }, { write: (line) => void lines.push(line) });
  const streams = await ensureStreams({ bus, log: warnLog, replicas: 5 });
  await waitUntil(() => lines.some((line) => line.includes('NATS_STREAM_REPLICAS')));
  streams.stop();
  await bus.nc.close();
});
