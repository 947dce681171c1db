import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { heavyBodyTurns } from './heavy-bodies';

const NEVER_MS = 600_000;

function answer() {
  const emitter = new EventEmitter();
  const res = { closed: false, once: emitter.once.bind(emitter) } as Parameters<ReturnType<typeof heavyBodyTurns>>[0];
  const close = () => {
    Object.assign(res, { closed: true });
    emitter.emit('close');
  };
  return { res, close };
}

/** Waits for more turns of the event loop than any test here takes. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await nextTurn();
}

test('bodies take turns in order of arrival, each after the response to the one before', async () => {
  const awaitTurn = heavyBodyTurns(NEVER_MS);
  const order: number[] = [];
  const answers = [0, 1, 2].map((at) => {
    const one = answer();
    void awaitTurn(one.res).then(() => order.push(at));
    return one;
  });
  await settle();
  expect(order).toEqual([0]);
  answers[0]?.close();
  await settle();
  expect(order).toEqual([0, 1]);
  // A caller who leaves while waiting takes no turn from the others.
  answers[2]?.close();
  answers[1]?.close();
  await settle();
  const next = answer();
  await awaitTurn(next.res);
  next.close();
  expect(order).toEqual([0, 1, 2]);
});

test('a waiting response does not block the next body', async () => {
  const awaitTurn = heavyBodyTurns(1);
  const [one, other] = [answer(), answer()];
  await awaitTurn(one.res);
  await awaitTurn(other.res);
  for (const { close } of [one, other]) close();
});

test('other work runs between two bodies that are ready together', async () => {
  const awaitTurn = heavyBodyTurns(NEVER_MS);
  const order: string[] = [];
  const [one, other] = [answer(), answer()];
  const first = awaitTurn(one.res).then(() => order.push('first'));
  const second = awaitTurn(other.res).then(() => order.push('second'));
  await first;
  setImmediate(() => order.push('another'));
  one.close();
  await second;
  other.close();
  expect(order).toEqual(['first', 'another', 'second']);
});
