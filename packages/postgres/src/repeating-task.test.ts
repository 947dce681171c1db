import { waitUntil } from '@gantry/testing';
import { startRepeatingTask } from './repeating-task';

const warn = jest.fn();
const repeatWork = (work: () => Promise<unknown>, everyMs = 1) =>
  startRepeatingTask({ everyMs, work, what: 'the test', log: { warn } });
beforeEach(() => warn.mockClear());

test('failed work is logged and retried', async () => {
  let times = 0;
  const repeated = repeatWork(async () => {
    times++;
    throw new Error('the database is away');
  });
  await waitUntil(async () => times > 2);
  await repeated.stop();
  expect(warn).toHaveBeenCalledTimes(times);
  expect(warn.mock.lastCall?.[1]).toBe('the test: will try again');
});

test('runs never overlap, stop() waits for the current run, and no run starts afterwards', async () => {
  let begun = 0;
  let finish = () => {};
  const repeated = repeatWork(() => {
    begun++;
    return new Promise<void>((resolve) => {
      finish = resolve;
    });
  });
  await waitUntil(async () => begun === 1);
  let stopped = false;
  const stopping = repeated.stop().then(() => {
    stopped = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect({ begun, stopped }).toEqual({ begun: 1, stopped: false });
  finish();
  await stopping;
  expect(begun).toBe(1);
});

test('a task that is woken does not wait for its pause, also where it is woken during its work', async () => {
  let begun = 0;
  let finish = () => {};
  const hour = 3_600_000;
  const repeated = repeatWork(() => {
    begun++;
    return new Promise<void>((resolve) => {
      finish = resolve;
    });
  }, hour);
  repeated.wake();
  await waitUntil(() => begun === 1);
  repeated.wake();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(begun).toBe(1);
  finish();
  await waitUntil(() => begun === 2);
  finish();
  await repeated.stop();
  expect(begun).toBe(2);
});
