import { setupPool } from '@gantry/testing';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { createRateCounter, EXCHANGE_MS, type RateCount, WINDOW_MS } from './rate-counter';
import { toNetwork } from './rate-limit';

const pool = setupPool('automation-api');
let at: number;
/** One per test: replicas of earlier tests may still share their counts. */
let ada: string;
let tests = 0;
const log = pino({ level: 'silent' });

beforeEach(() => {
  at = Math.ceil(Date.now() / WINDOW_MS) * WINDOW_MS;
  ada = `ada-${++tests}`;
});

const createReplica = (on = pool): RateCount => createRateCounter({ pool: on, log, now: () => at });

function countAllowed(count: RateCount, times: number, limit: number, caller = ada): number {
  let allowed = 0;
  for (let i = 0; i < times; i++) if (count.spend(caller, limit).allowed) allowed++;
  return allowed;
}

test('two replicas share one budget', async () => {
  const [a, b] = [createReplica(), createReplica()];
  expect(countAllowed(a, 6, 10)).toBe(6);
  await a.exchange();
  b.spend(ada, 10);
  await b.exchange();
  expect(countAllowed(b, 10, 10)).toBe(3);
  await b.exchange();
  await a.exchange();
  a.spend('bob', 10);
  await a.exchange();
  expect(countAllowed(b, 10, 10, 'bob')).toBeLessThanOrEqual(10);
});

test('a simultaneous burst over both replicas gets two budgets at most, and is charged the next minute', async () => {
  const [a, b] = [createReplica(), createReplica()];
  expect(countAllowed(a, 50, 10) + countAllowed(b, 50, 10)).toBe(20);
  await a.exchange();
  await b.exchange();
  at += WINDOW_MS;
  expect(countAllowed(b, 50, 10)).toBe(0);
  at += WINDOW_MS / 2;
  expect(countAllowed(b, 50, 10)).toBe(0);
  at += WINDOW_MS / 4;
  expect(countAllowed(b, 50, 10)).toBe(5);
});

test('the window slides: no caller gets two budgets at its border', () => {
  const count = createReplica();
  at += WINDOW_MS * 0.9;
  expect(countAllowed(count, 50, 10)).toBe(10);
  at += WINDOW_MS * 0.2;
  expect(countAllowed(count, 50, 10)).toBe(1);
});

test('a caller who waits for the reported time is allowed', () => {
  const count = createReplica();
  countAllowed(count, 50, 10);
  for (let times = 0; times < 5; times++) {
    const { allowed, waitMs } = count.spend(ada, 10);
    expect(allowed).toBe(false);
    at += Math.ceil(waitMs);
    expect(count.spend(ada, 10).allowed).toBe(true);
  }
});

test('ten thousand refusals of one caller do not affect another, nor cost a statement each', async () => {
  const count = createReplica();
  expect(countAllowed(count, 10_000, 10, 'attacker')).toBe(10);
  await count.exchange();
  expect(count.spend(ada, 10)).toMatchObject({ allowed: true, remaining: 9 });
  const { rows } = await pool.query("SELECT count FROM rate_counts WHERE caller = 'attacker'");
  expect(rows).toEqual([{ count: 10 }]);
});

test('counts are shared with other replicas automatically', async () => {
  const [a, b] = [createReplica(), createReplica()];
  countAllowed(a, 10, 10);
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
  const [a, b] = [createReplica(flaky), createReplica()];
  expect(countAllowed(a, 6, 10)).toBe(6);
  await a.exchange();
  expect(countAllowed(a, 2, 10)).toBe(2);
  down = false;
  await a.exchange();
  b.spend(ada, 10);
  await b.exchange();
  expect(countAllowed(b, 10, 10)).toBe(1);
});

test.each([
  ['203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8::7', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['unknown', 'unknown'],
])('%s is counted as %s', (address, network) => {
  expect(toNetwork(address)).toBe(network);
});
