import { createDatabase, describeWithPgBouncer, setupPgBouncer, slowPoolOptions } from '@gantry/testing';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { createPool, type PoolSettings } from './pool';
import { createStatement } from './statement';
import { transaction } from './transaction';

const FIND = createStatement('find-number', 'SELECT $number::int AS number');
const CONNECTIONS = 3;
const log = pino({ level: 'silent' });

describeWithPgBouncer('through PgBouncer in transaction mode', () => {
  const pgbouncer = setupPgBouncer(CONNECTIONS);
  const pools: Pool[] = [];
  afterAll(() => Promise.all(pools.map((pool) => pool.end())));

  async function open(settings: PoolSettings): Promise<Pool> {
    const { url } = await createDatabase('empty');
    const pool = createPool(pgbouncer.through(url), { ...slowPoolOptions, ...settings, service: 'test', log });
    pools.push(pool);
    return pool;
  }

  test('without the setting, no connection is made', async () => {
    const pool = await open({});
    await expect(pool.query('SELECT 1')).rejects.toThrow('unsupported startup parameter');
  });

  test('named statements succeed, whichever connection they reach', async () => {
    const pool = await open({ max: 12, pgbouncer: 'transaction' });
    const numbers = Array.from({ length: 200 }, (_, number) => number);
    const answers = await Promise.all(
      numbers.map((number) =>
        number % 2
          ? pool.query(FIND({ number }))
          : transaction(pool, async (tx) => {
              await tx.query('SELECT pg_advisory_xact_lock($1)', [number % 5]);
              return tx.query(FIND({ number }));
            }),
      ),
    );
    expect(answers.map(({ rows }) => rows[0].number)).toEqual(numbers);
    const { rows } = await pool.query('SELECT count(*)::int AS prepared FROM pg_prepared_statements');
    expect(rows).toEqual([{ prepared: 0 }]);
  });

  test('an endless statement is ended by the limit that PgBouncer sets', async () => {
    const pool = await open({ pgbouncer: 'transaction' });
    expect((await pool.query('SHOW statement_timeout')).rows).toEqual([{ statement_timeout: '10s' }]);
  });
});
