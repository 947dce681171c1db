import { until } from '@gantry/testing';
import { repeat } from './repeat';

const warn = jest.fn();
const every = (work: () => Promise<unknown>) => repeat({ everyMs: 1, work, what: 'the test', log: { warn } });
beforeEach(() => warn.mockClear());

test('failed work is logged and retried', async () => {
  let times = 0;
  const repeated = every(async () => {
    times++;
    throw new Error('the database is away');
  });
  await until(async () => times > 2);
  await repeated.stop();
  expect(warn).toHaveBeenCalledTimes(times);
  expect(warn.mock.lastCall?.[1]).toBe('the test: will try again');
});

test('runs never overlap, stop() waits for the current run, and no run starts afterwards', async () => {
  let begun = 0;
  let end = () => {};
  const repeated = every(() => {
    begun++;
    return new Promise<void>((resolve) => {
      end = resolve;
    });
  });
  await until(async () => begun === 1);
  let stopped = false;
  const stopping = repeated.stop().then(() => {
    stopped = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect({ begun, stopped }).toEqual({ begun: 1, stopped: false });
  end();
  await stopping;
  expect(begun).toBe(1);
});
