import type { RunEvent } from '@gantry/events';
import { waitUntil, zeroUsage } from '@gantry/testing';
import { pino } from 'pino';
import { createReportQueue, type ReceivedBatch } from './report-queue';

const unavailableError = Object.assign(new Error('no connection'), { code: 'ECONNREFUSED' });

function createQueue(write: (runIds: string[]) => void) {
  const written: string[][] = [];
  const refused: string[] = [];
  const queue = createReportQueue({
    write: async (received) => {
      const runIds = received.map(({ batch }) => batch.runId);
      write(runIds);
      written.push(runIds);
    },
    refuse: async ({ batch }) => void refused.push(batch.runId),
    log: pino({ level: 'silent' }),
  });
  return { queue, written, refused };
}

function buildReport(runId: string, ends = true): ReceivedBatch & { message: { working: jest.Mock } } {
  const log: RunEvent = { type: 'log', seq: 2, at: 0, stream: 'stdout', level: 'info', text: 'x' };
  const end: RunEvent = { type: 'finished', seq: 3, at: 0, status: 'completed', output: null, usage: zeroUsage };
  return {
    message: { ack: jest.fn(), nak: jest.fn(), term: jest.fn(), working: jest.fn(), info: { deliveryCount: 1 } },
    batch: { runId, attempt: 1, executorId: 'exe_1', token: 't', events: ends ? [log, end] : [log] },
  };
}

test('an ending flushes all waiting batches', async () => {
  const { queue, written } = createQueue(() => {});
  queue.push(buildReport('one', false));
  queue.push(buildReport('two', false));
  expect(written).toEqual([]);
  queue.push(buildReport('three'));
  expect(written).toEqual([['one', 'two', 'three']]);
  await waitUntil(() => queue.isIdle);
});

test('while PostgreSQL is down batches stay in order, and are not redelivered to another replica', async () => {
  let isAway = true;
  const { queue, written, refused } = createQueue(() => {
    if (isAway) throw unavailableError;
  });
  const first = buildReport('first');
  queue.push(first);
  queue.push(buildReport('second'));
  await waitUntil(() => first.message.working.mock.calls.length > 0);
  expect([queue.isIdle, written]).toEqual([false, []]);
  isAway = false;
  await waitUntil(() => queue.isIdle);
  expect([written.flat(), refused]).toEqual([['first', 'second'], []]);
});

test('a batch that cannot be written does not block others', async () => {
  const { queue, written, refused } = createQueue((runIds) => {
    if (runIds.includes('bad')) throw new Error('bad');
  });
  for (const runId of ['one', 'bad', 'two']) queue.push(buildReport(runId, false));
  queue.push(buildReport('three'));
  await waitUntil(() => queue.isIdle);
  expect([written, refused]).toEqual([[['one'], ['two'], ['three']], ['bad']]);
});

test('stopping writes all waiting batches', async () => {
  const { queue, written } = createQueue(() => {});
  queue.push(buildReport('late', false));
  await queue.stop();
  expect(written).toEqual([['late']]);
});
