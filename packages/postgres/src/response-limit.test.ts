import type { Socket } from 'node:net';
import { catchError, setupFreezableDatabase, setupResource } from '@gantry/testing';
import { pino } from 'pino';
import { isPostgresDown } from './failures';
import { createPool } from './pool';
import { disableTimeLimits } from './response-limit';
import { transaction } from './transaction';

const LIMIT_MS = 300;

const server = setupFreezableDatabase('empty');
const pool = setupResource(
  () => {
    const settings = { service: 'test', log: pino({ level: 'silent' }), max: 1, responseTimeoutMs: LIMIT_MS };
    return createPool(server.url, settings);
  },
  (made) => made.end(),
);

test('a query to a frozen server fails like one to a server that is down, and the next has another connection', async () => {
  await pool.query('SELECT 1');
  server.freeze();
  expect(isPostgresDown(await catchError(pool.query('SELECT 1')))).toBe(true);
  server.thaw();
  expect((await pool.query('SELECT 2 AS n')).rows).toEqual([{ n: 2 }]);
});

test('a transaction ends with its connection: the next user is not inside it', async () => {
  const ended = transaction(pool, async (tx) => {
    await tx.query('CREATE TABLE left_over (n int)');
    server.freeze();
    await tx.query('SELECT 1');
  });
  expect(isPostgresDown(await catchError(ended))).toBe(true);
  server.thaw();
  expect((await pool.query("SELECT to_regclass('left_over') AS found")).rows).toEqual([{ found: null }]);
});

test('a transaction whose owner does other work meanwhile continues', async () => {
  const { rows } = await transaction(pool, async (tx) => {
    await tx.query('SELECT 1');
    await new Promise<void>((resolve) => {
      const { stream } = (tx as unknown as { connection: { stream: Socket } }).connection;
      stream.once('timeout', () => resolve());
    });
    return tx.query('SELECT 3 AS n');
  });
  expect(rows).toEqual([{ n: 3 }]);
});

test('maintenance may take longer', async () => {
  const { rows } = await transaction(pool, async (tx) => {
    await disableTimeLimits(tx);
    return tx.query('SELECT pg_sleep($1), 4 AS n', [(LIMIT_MS * 3) / 1_000]);
  });
  expect(rows).toMatchObject([{ n: 4 }]);
});
