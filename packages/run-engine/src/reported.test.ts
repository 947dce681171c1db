import type { RunEvent, RunEventBatch } from '@gantry/events';
import { noUsage } from '@gantry/testing';
import { endingOf, suspensionOf, wholeLogs } from './reported';

const batch = (events: RunEvent[], attempt = 1): RunEventBatch => ({
  ...{ runId: 'run_1', attempt, executorId: 'exe_1', token: 't', events },
});
const log = (seq: number): RunEvent => ({
  type: 'log',
  seq,
  at: 0,
  stream: 'stdout',
  level: 'info',
  text: `line ${seq}`,
});
const finished = (over: object): RunEvent =>
  ({ type: 'finished', seq: 4, at: 0, status: 'completed', usage: { ...noUsage, costUsd: 2 }, ...over }) as RunEvent;
const price = () => 0.5;

test('logs are complete only with every line of a first attempt', () => {
  expect(wholeLogs([batch([log(2), log(3)]), batch([finished({})])])).toBe('line 2\nline 3\n');
  expect(wholeLogs([batch([log(3), finished({})])])).toBeUndefined();
  expect(wholeLogs([batch([log(2), finished({})])])).toBeUndefined();
  expect(wholeLogs([batch([log(2), log(3), finished({})], 2)])).toBeUndefined();
});

test('a batch ends its run, suspends it, or does neither', () => {
  const step = { ordinal: 1, kind: 'sleep', name: 'nap' };
  const asleep = batch([finished({ status: 'suspended', suspension: { kind: 'sleep', step, wakeAt: 9 } })]);
  const silent = batch([finished({ status: 'suspended' })]);
  const returned = batch([finished({ status: 'returned' })]);
  const both = (one: RunEventBatch) => [endingOf(one, price)?.status, suspensionOf(one, price)?.suspension.kind];
  expect([batch([log(2)]), batch([log(2), finished({})]), asleep, silent, returned].map(both)).toEqual([
    [undefined, undefined],
    ['completed', undefined],
    [undefined, 'sleep'],
    ['failed', undefined],
    [undefined, undefined],
  ]);
  expect(endingOf(batch([finished({})]), price)).toMatchObject({ costUsd: 2.5, seq: 1_000_004, from: 'running' });
});
