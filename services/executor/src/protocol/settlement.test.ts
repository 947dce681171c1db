import type { Job } from '@gantry/events';
import { captureLogs } from '@gantry/testing';
import type { Metrics } from '../host/metrics';
import type { NewRunEvent } from './event-publisher';
import { createSettlement, type FinishedPayload } from './settlement';

const job = { runId: 'run_1', source: 'automation', attempt: 1 } as Job;
const COMPLETED: FinishedPayload = { status: 'completed', output: 1 };
const CANCELLED: FinishedPayload = { status: 'cancelled', error: { code: 'cancelled', message: 'stop' } };
const TIMED_OUT: FinishedPayload = { status: 'timed_out', error: { code: 'timeout', message: 'late' } };

function createFixture({ push = (_event: NewRunEvent) => {}, hasProcess = true } = {}) {
  const events: NewRunEvent[] = [];
  const fakes = { release: jest.fn(), kill: jest.fn(), abandon: jest.fn(), inc: jest.fn(), flushLive: jest.fn() };
  const logs = captureLogs();
  const settlement = createSettlement({
    job,
    events: {
      push(event) {
        push(event);
        events.push(event);
      },
      flush() {},
      stored: async () => {},
      abandon: fakes.abandon,
    },
    live: { flush: fakes.flushLive, costUsd: () => 0.5 },
    process: () => (hasProcess ? { kill: fakes.kill } : undefined),
    release: fakes.release,
    metrics: { runs: { inc: fakes.inc } } as unknown as Metrics,
    log: logs.log,
  });
  return { settlement, events, logs, ...fakes };
}

test('a run ends once, with its latest progress before and nothing after', async () => {
  const { settlement, events, release, inc, flushLive } = createFixture();
  flushLive.mockImplementation(() => settlement.emit({ type: 'progress', fraction: 1, message: null }));
  settlement.finish(COMPLETED);
  settlement.finish(TIMED_OUT);
  settlement.stop(CANCELLED);
  settlement.emit({ type: 'progress', fraction: 0, message: null });
  await settlement.settled;
  expect(events).toEqual([
    { type: 'progress', fraction: 1, message: null },
    { type: 'finished', ...COMPLETED, usage: expect.objectContaining({ costUsd: 0.5 }) },
  ]);
  expect(release).toHaveBeenCalledTimes(1);
  expect(inc).toHaveBeenCalledTimes(1);
});

test('the first external verdict wins, and kills the process', () => {
  const { settlement, events, kill } = createFixture();
  settlement.stop(CANCELLED);
  settlement.stop({ status: 'returned' });
  expect(settlement.verdict).toEqual(CANCELLED);
  expect(settlement.isOver()).toBe(true);
  expect(kill).toHaveBeenCalledTimes(1);
  expect(events).toEqual([]);
  settlement.finish(CANCELLED);
});

test('without a process a verdict ends the run at once', async () => {
  const { settlement, events } = createFixture({ hasProcess: false });
  settlement.stop(CANCELLED);
  await settlement.settled;
  expect(events).toMatchObject([{ type: 'finished', status: 'cancelled' }]);
});

test('an overdue run is killed and ended, with the verdict if there is one', async () => {
  const late = createFixture();
  late.settlement.endWithin(1, TIMED_OUT);
  await late.settlement.settled;
  expect(late.kill).toHaveBeenCalledTimes(1);
  expect(late.events).toMatchObject([{ type: 'finished', status: 'timed_out' }]);
  expect(late.logs.lines).toMatchObject([{ msg: 'run did not end in time', runId: 'run_1' }]);

  const stopped = createFixture();
  stopped.settlement.stop(CANCELLED);
  stopped.settlement.endWithin(1, TIMED_OUT);
  await stopped.settlement.settled;
  expect(stopped.events).toMatchObject([{ type: 'finished', status: 'cancelled' }]);
});

test('a removed limit ends nothing, unless a verdict has set it', async () => {
  const free = createFixture();
  free.settlement.endWithin(1, TIMED_OUT);
  free.settlement.clearLimit();
  const stopped = createFixture();
  stopped.settlement.stop(CANCELLED);
  stopped.settlement.endWithin(5, TIMED_OUT);
  stopped.settlement.clearLimit();
  // Its limit is the later one.
  await stopped.settlement.settled;
  expect(free.settlement.isOver()).toBe(false);
});

test('a lost run emits nothing, and its slot is released', async () => {
  const { settlement, events, abandon, release } = createFixture({ hasProcess: false });
  settlement.abandon();
  await settlement.settled;
  expect(abandon).toHaveBeenCalledTimes(1);
  expect(events).toEqual([]);
  expect(release).toHaveBeenCalledTimes(1);
});

test('slot and lease are released even if nothing can be written', async () => {
  const push = () => {
    throw new Error('planted');
  };
  const { settlement, events, release } = createFixture({ push });
  settlement.finish(COMPLETED);
  await settlement.settled;
  expect(events).toEqual([]);
  expect(release).toHaveBeenCalledTimes(1);
});
