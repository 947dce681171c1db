import { setupPool } from '@gantry/testing';
import { deleteOldRows } from './delete-old-rows';
import { transaction } from './transaction';

const pool = setupPool('empty');

test('all old rows are deleted in several statements, without waiting for locked rows', async () => {
  await pool.query('CREATE TABLE things AS SELECT n, n % 12 <> 0 AS old FROM generate_series(1, 12000) n');
  await transaction(pool, async (holder) => {
    await holder.query('SELECT FROM things WHERE n = 7 FOR UPDATE');
    expect(await deleteOldRows(pool, 'things', 'old = $1', { values: [true] })).toBe(10_999);
  });
  expect(await deleteOldRows(pool, 'things', 'old')).toBe(1);
  const { rows } = await pool.query('SELECT count(*)::int AS left FROM things');
  expect(rows[0].left).toBe(1_000);
});
