import { waitUntil } from '@gantry/testing';
import type { NewRunEvent } from './event-publisher';
import { createLiveReport } from './live-report';

test('progress that is reported faster than emitted is coalesced to the latest', async () => {
  const events: NewRunEvent[] = [];
  const live = createLiveReport({ emit: (event) => events.push(event), onFailure: fail });
  for (let n = 1; n <= 100; n++) live.progress(n / 100, String(n));
  expect(events).toEqual([]);
  await waitUntil(() => events.length);
  expect(events).toEqual([{ type: 'progress', fraction: 1, message: '100' }]);
  live.progress(0.5, null);
  live.flush();
  live.flush();
  expect(events.slice(1)).toEqual([{ type: 'progress', fraction: 0.5, message: null }]);
});

test('costs add up, also those beyond the limit of single events', () => {
  const events: NewRunEvent[] = [];
  const live = createLiveReport({ emit: (event) => events.push(event), onFailure: fail });
  for (let n = 0; n < 1_500; n++) live.cost(0.5, null);
  expect(live.costUsd()).toBe(750);
  expect(events).toHaveLength(1_000);
});

test('progress that can’t be emitted does not fail the caller', async () => {
  const failures: unknown[] = [];
  const live = createLiveReport({
    emit: () => {
      throw new Error('planted');
    },
    onFailure: (err) => failures.push(err),
  });
  live.progress(0.5, null);
  await waitUntil(() => failures.length);
  expect(() => live.flush()).not.toThrow();
});

function fail(err: unknown): never {
  throw err;
}
