import { setupBus, setupNats, setupResource, waitUntil } from '@gantry/testing';
import { pino } from 'pino';
import { connectBus, encode } from './bus';
import { alertRaised, approvalDecided, buildEventSubject } from './catalogue';
import { runSubjects } from './run-protocol';
import {
  buildDurableName,
  consumeDurable,
  createStreamsCheck,
  EVENTS_STREAM,
  ensureStreams,
  getRunEventsStreamName,
  getStreamState,
  streamPlans,
} from './streams';

const log = pino({ level: 'silent' });
const nats = setupNats();
const bus = setupBus(nats, 'worker-api');
/** A connection with permissions that no service has: delete, purge and change streams. */
const spectator = setupResource(
  () => connectBus({ ...nats.spectator, name: 'spectator', log }),
  (one) => one.nc.close(),
);

const publish = () =>
  bus.js.publish(buildEventSubject(alertRaised, 'worker-api'), encode({ id: 'evt_1' }), { timeout: 500 });

/** Counts the alerts that arrive. */
function countAlerts() {
  const received = { count: 0 };
  const reading = consumeDurable({
    bus,
    log,
    stream: EVENTS_STREAM,
    durable: buildDurableName('worker-api', alertRaised),
    messagesMax: 10,
    onMessage: (message) => {
      received.count++;
      message.ack();
    },
  });
  return { heard: received, stop: reading.stop };
}

test('a deleted stream is recreated with its consumers, and readers continue', async () => {
  const streams = await ensureStreams({ bus, log });
  const { heard: received, stop } = countAlerts();
  await publish();
  await waitUntil(() => received.count === 1);
  const manager = await spectator.nc.jetstreamManager({ checkAPI: false });
  await manager.streams.delete(EVENTS_STREAM);
  await expect(createStreamsCheck(bus, [EVENTS_STREAM])()).rejects.toThrow();
  await waitUntil(() => publish().catch(() => null), { what: 'the stream takes messages' });
  await waitUntil(() => received.count > 1, { what: 'they are read' });
  await createStreamsCheck(bus, [EVENTS_STREAM])();
  await stop();
  streams.stop();
});

test('a second start finds streams and consumers up to date and rewrites none', async () => {
  const first = await ensureStreams({ bus, log });
  first.stop();
  const requested: string[] = [];
  const subscription = spectator.nc.subscribe('$JS.API.>', {
    callback: (_err, { subject }) => requested.push(subject.replace(/^\$JS\.API\./, '')),
  });
  await spectator.nc.flush();
  const second = await ensureStreams({ bus, log });
  second.stop();
  await waitUntil(
    () => requested.filter((subject) => subject.startsWith('CONSUMER.LIST.')).length === streamPlans.length,
  );
  subscription.unsubscribe();
  expect(requested.filter((subject) => !/^(STREAM\.INFO|CONSUMER\.(LIST|NAMES|INFO))\./.test(subject))).toEqual([]);
});

test('consumed messages are removed, and messages without a consumer are not kept', async () => {
  const { heard: received, stop } = countAlerts();
  await publish();
  await bus.js.publish(buildEventSubject(approvalDecided, 'worker-api'), encode({ id: 'evt_2' }));
  await waitUntil(() => received.count);
  await waitUntil(async () => (await getStreamState(bus, EVENTS_STREAM)).messages === 0);
  await stop();
});

test('a full stream refuses messages, and its health check fails before that', async () => {
  const stream = getRunEventsStreamName('automation');
  const manager = await spectator.nc.jetstreamManager({ checkAPI: false });
  const { config } = await manager.streams.info(stream);
  await manager.streams.update(stream, { ...config, max_bytes: 10_000 });
  const subject = runSubjects.events('automation', 'an-executor', 'run_1');
  const fill = () => spectator.js.publish(subject, Buffer.alloc(900), { timeout: 60_000 });
  await expect(
    (async () => {
      for (;;) await fill();
    })(),
  ).rejects.toMatchObject({ api_error: { description: 'maximum bytes exceeded' } });
  await expect(createStreamsCheck(bus, [stream])()).rejects.toThrow(`the stream ${stream} is full`);
  await manager.streams.purge(stream);
  await createStreamsCheck(bus, [stream])();
});
