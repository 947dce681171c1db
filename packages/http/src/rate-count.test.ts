import { givenPool } from '@gantry/testing';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { createRateCount, EXCHANGE_MS, type RateCount, WINDOW_MS } from './rate-count';
import { networkOf } from './rate-limit';

const pool = givenPool('automation-api');
let at: number;
/** One per test: replicas of earlier tests may still share their counts. */
let ada: string;
let tests = 0;
const log = pino({ level: 'silent' });

beforeEach(() => {
  at = Math.ceil(Date.now() / WINDOW_MS) * WINDOW_MS;
  ada = `ada-${++tests}`;
});

const replica = (on = pool): RateCount => createRateCount({ pool: on, log, now: () => at });

function allowedOf(count: RateCount, times: number, limit: number, caller = ada): number {
  let allowed = 0;
  for (let i = 0; i < times; i++) if (count.spend(caller, limit).allowed) allowed++;
  return allowed;
}

test('two replicas share one budget', async () => {
  const [a, b] = [replica(), replica()];
  expect(allowedOf(a, 6, 10)).toBe(6);
  await a.exchange();
  b.spend(ada, 10);
  await b.exchange();
  expect(allowedOf(b, 10, 10)).toBe(3);
  await b.exchange();
  await a.exchange();
  a.spend('bob', 10);
  await a.exchange();
  expect(allowedOf(b, 10, 10, 'bob')).toBeLessThanOrEqual(10);
});

test('a simultaneous burst over both replicas gets two budgets at most, and is charged the next minute', async () => {
  const [a, b] = [replica(), replica()];
  expect(allowedOf(a, 50, 10) + allowedOf(b, 50, 10)).toBe(20);
  await a.exchange();
  await b.exchange();
  at += WINDOW_MS;
  expect(allowedOf(b, 50, 10)).toBe(0);
  at += WINDOW_MS / 2;
  expect(allowedOf(b, 50, 10)).toBe(0);
  at += WINDOW_MS / 4;
  expect(allowedOf(b, 50, 10)).toBe(5);
});

test('the window slides: no caller gets two budgets at its border', () => {
  const count = replica();
  at += WINDOW_MS * 0.9;
  expect(allowedOf(count, 50, 10)).toBe(10);
  at += WINDOW_MS * 0.2;
  expect(allowedOf(count, 50, 10)).toBe(1);
});

test('a caller who waits for the reported time is allowed', () => {
  const count = replica();
  allowedOf(count, 50, 10);
  for (let times = 0; times < 5; times++) {
    const { allowed, waitMs } = count.spend(ada, 10);
    expect(allowed).toBe(false);
    at += Math.ceil(waitMs);
    expect(count.spend(ada, 10).allowed).toBe(true);
  }
});

test('ten thousand refusals of one caller do not affect another, nor cost a statement each', async () => {
  const count = replica();
  expect(allowedOf(count, 10_000, 10, 'attacker')).toBe(10);
  await count.exchange();
  expect(count.spend(ada, 10)).toMatchObject({ allowed: true, remaining: 9 });
  const { rows } = await pool.query("SELECT count FROM rate_counts WHERE caller = 'attacker'");
  expect(rows).toEqual([{ count: 10 }]);
});

test('counts are shared with other replicas automatically', async () => {
  const [a, b] = [replica(), replica()];
  allowedOf(a, 10, 10);
  const deadline = Date.now() + 20 * EXCHANGE_MS;
  for (;;) {
    const { rows } = await pool.query('SELECT count FROM rate_counts WHERE caller = $1', [ada]);
    if (rows[0]?.count === 10) break;
    if (Date.now() > deadline) throw new Error('nothing was told');
  }
  b.spend(ada, 10);
  await b.exchange();
  expect(b.spend(ada, 10).allowed).toBe(false);
});

test('without PostgreSQL each replica counts for itself, and shares its counts afterwards', async () => {
  let down = true;
  const flaky = {
    ending: false,
    query: (text: string, values: unknown[]) =>
      down ? Promise.reject(new Error('connect ECONNREFUSED')) : pool.query(text, values),
  } as unknown as Pool;
  const [a, b] = [replica(flaky), replica()];
  expect(allowedOf(a, 6, 10)).toBe(6);
  await a.exchange();
  expect(allowedOf(a, 2, 10)).toBe(2);
  down = false;
  await a.exchange();
  b.spend(ada, 10);
  await b.exchange();
  expect(allowedOf(b, 10, 10)).toBe(1);
});

test.each([
  ['203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8::7', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['unknown', 'unknown'],
])('%s is counted as %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
