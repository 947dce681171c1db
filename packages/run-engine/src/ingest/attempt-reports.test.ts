import type { RunEvent, RunEventBatch } from '@gantry/events';
import { zeroUsage } from '@gantry/testing';
import { findAttemptResult, findSuspension, joinCompleteLogs } from './attempt-reports';

const batch = (events: RunEvent[], attempt = 1): RunEventBatch => ({
  runId: 'run_1',
  attempt,
  executorId: 'exe_1',
  token: 't',
  events,
});
const buildLog = (seq: number): RunEvent => ({
  type: 'log',
  seq,
  at: 0,
  stream: 'stdout',
  level: 'info',
  text: `line ${seq}`,
});
const buildFinished = (over: object): RunEvent =>
  ({ type: 'finished', seq: 4, at: 0, status: 'completed', usage: { ...zeroUsage, costUsd: 2 }, ...over }) as RunEvent;
const price = () => 0.5;

test('logs are complete only with every line of a first attempt', () => {
  expect(joinCompleteLogs([batch([buildLog(2), buildLog(3)]), batch([buildFinished({})])])).toBe('line 2\nline 3\n');
  expect(joinCompleteLogs([batch([buildLog(3), buildFinished({})])])).toBeUndefined();
  expect(joinCompleteLogs([batch([buildLog(2), buildFinished({})])])).toBeUndefined();
  expect(joinCompleteLogs([batch([buildLog(2), buildLog(3), buildFinished({})], 2)])).toBeUndefined();
});

test('a batch ends its run, suspends it, or does neither', () => {
  const step = { ordinal: 1, kind: 'sleep', name: 'nap' };
  const asleep = batch([buildFinished({ status: 'suspended', suspension: { kind: 'sleep', step, wakeAt: 9 } })]);
  const silent = batch([buildFinished({ status: 'suspended' })]);
  const returned = batch([buildFinished({ status: 'returned' })]);
  const getOutcome = (one: RunEventBatch) => [
    findAttemptResult(one, price)?.status,
    findSuspension(one, price)?.suspension.kind,
  ];
  expect(
    [batch([buildLog(2)]), batch([buildLog(2), buildFinished({})]), asleep, silent, returned].map(getOutcome),
  ).toEqual([
    [undefined, undefined],
    ['completed', undefined],
    [undefined, 'sleep'],
    ['failed', undefined],
    [undefined, undefined],
  ]);
  expect(findAttemptResult(batch([buildFinished({})]), price)).toMatchObject({
    costUsd: 2.5,
    seq: 1_000_004,
    from: 'running',
  });
});
