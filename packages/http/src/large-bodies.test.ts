import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createLargeBodyQueue } from './large-bodies';

const NEVER_MS = 600_000;

function fakeResponse() {
  const emitter = new EventEmitter();
  const res = { closed: false, once: emitter.once.bind(emitter) } as Parameters<
    ReturnType<typeof createLargeBodyQueue>
  >[0];
  const close = () => {
    Object.assign(res, { closed: true });
    emitter.emit('close');
  };
  return { res, close };
}

/** Waits for more turns of the event loop than any test here takes. */
async function flushEventLoop(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await nextTurn();
}

test('bodies take turns in order of arrival, each after the response to the one before', async () => {
  const awaitTurn = createLargeBodyQueue(NEVER_MS);
  const order: number[] = [];
  const responses = [0, 1, 2].map((at) => {
    const one = fakeResponse();
    void awaitTurn(one.res).then(() => order.push(at));
    return one;
  });
  await flushEventLoop();
  expect(order).toEqual([0]);
  responses[0]?.close();
  await flushEventLoop();
  expect(order).toEqual([0, 1]);
  // A caller who leaves while waiting takes no turn from the others.
  responses[2]?.close();
  responses[1]?.close();
  await flushEventLoop();
  const next = fakeResponse();
  await awaitTurn(next.res);
  next.close();
  expect(order).toEqual([0, 1, 2]);
});

test('a waiting response does not block the next body', async () => {
  const awaitTurn = createLargeBodyQueue(1);
  const [one, other] = [fakeResponse(), fakeResponse()];
  await awaitTurn(one.res);
  await awaitTurn(other.res);
  for (const { close } of [one, other]) close();
});

test('other work runs between two bodies that are ready together', async () => {
  const awaitTurn = createLargeBodyQueue(NEVER_MS);
  const order: string[] = [];
  const [one, other] = [fakeResponse(), fakeResponse()];
  const first = awaitTurn(one.res).then(() => order.push('first'));
  const second = awaitTurn(other.res).then(() => order.push('second'));
  await first;
  setImmediate(() => order.push('another'));
  one.close();
  await second;
  other.close();
  expect(order).toEqual(['first', 'another', 'second']);
});
