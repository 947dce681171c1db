import { setupNats, setupResource, waitUntil } from '@gantry/testing';
import { AckPolicy, type ConsumerMessages, type JsMsg, RetentionPolicy, StorageType } from 'nats';
import { pino } from 'pino';
import { createBacklogMonitor } from './backlog-monitor';
import { type Bus, connectBus } from './bus';

const NS_PER_MS = 1_000_000;
const ACK_WAIT_MS = 500;
const UNDELIVERABLE_AFTER_MS = 3 * ACK_WAIT_MS;
const stream = 'TRIED';
const durable = 'reader';

const nats = setupNats();
const spectator = setupResource(
  () => connectBus({ ...nats.spectator, name: 'spectator', log: pino({ level: 'silent' }) }),
  (one) => one.nc.close(),
);
let reading: ConsumerMessages;
const received: JsMsg[] = [];

beforeAll(async () => {
  const manager = await spectator.nc.jetstreamManager({ checkAPI: false });
  const config = { storage: StorageType.File, retention: RetentionPolicy.Workqueue };
  await manager.streams.add({ name: stream, subjects: ['tried'], ...config });
  const acknowledgement = { ack_policy: AckPolicy.Explicit, ack_wait: ACK_WAIT_MS * NS_PER_MS };
  await manager.consumers.add(stream, { durable_name: durable, ...acknowledgement });
  const consumer = await spectator.js.consumers.get(stream, durable);
  reading = await consumer.consume({ callback: (message) => void received.push(message) });
});
afterAll(() => reading.close());

test('a repeatedly delivered message counts as backlog until it is acknowledged', async () => {
  const { isConsumed } = createBacklogMonitor({ bus: spectator, stream, durable }, UNDELIVERABLE_AFTER_MS);
  expect(await isConsumed()).toBe(true);
  await spectator.js.publish('tried');
  await waitUntil(() => received.length > 4);
  expect(await isConsumed()).toBe(false);
  await waitUntil(() => received.length > 8);
  expect(await isConsumed()).toBe(false);
  received.at(-1)?.ack();
  await waitUntil(isConsumed);
});

describe('removed messages that a killed server still counts', () => {
  /** State observed 26 s after the last of eight kills: no message was delivered in this time. */
  const staleState = {
    num_pending: 0,
    num_ack_pending: 3,
    num_waiting: 2,
    delivered: { consumer_seq: 1_931, stream_seq: 1_769 },
  };
  const watchStates = (states: object[]) => {
    const next = async () => (states.length > 1 ? states.shift() : states[0]);
    const nc = { jetstreamManager: async () => ({ consumers: { info: next } }) };
    return createBacklogMonitor({ bus: { nc } as unknown as Bus, stream, durable }, UNDELIVERABLE_AFTER_MS);
  };

  test('stop counting as backlog', async () => {
    const { isConsumed } = watchStates([staleState]);
    expect(await isConsumed()).toBe(false);
    await waitUntil(isConsumed);
  });

  test('count as backlog while no replica waits for messages, or others arrive', async () => {
    const noneWaiting = { ...staleState, num_waiting: 0 };
    const arrived = { ...staleState, num_pending: 1 };
    const states = [staleState, noneWaiting, arrived];
    const { isConsumed } = watchStates(states);
    expect(await isConsumed()).toBe(false);
    await new Promise((resolve) => setTimeout(resolve, UNDELIVERABLE_AFTER_MS));
    expect(await isConsumed()).toBe(false);
    expect(await isConsumed()).toBe(false);
  });
});
