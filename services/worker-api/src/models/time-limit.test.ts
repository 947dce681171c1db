import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { addTimeLimit } from './time-limit';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

test('a time limit ends a call after its memory has been collected', async () => {
  const signal = addTimeLimit(300, new AbortController().signal);
  const ended = once(signal, 'abort');
  // A timeout that nothing holds is collected from the next turn of the event loop on.
  await new Promise(setImmediate);
  collectGarbage();
  const keepAlive = setTimeout(() => {}, 60_000);
  await ended;
  clearTimeout(keepAlive);
  expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
});

test('the other signals end the call with their own reason', () => {
  const controller = new AbortController();
  const signal = addTimeLimit(60_000, controller.signal);
  controller.abort(new Error('cancelled'));
  expect(signal.reason).toEqual(new Error('cancelled'));
});
