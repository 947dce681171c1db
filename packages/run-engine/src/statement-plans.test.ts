/**
 * Tests plan reuse: planning these statements takes several times as long as executing them, and each run needs them.
 */
import { PYTHON } from '@gantry/events';
import { setupPool } from '@gantry/testing';
import { settleRuns } from './ending/settle-runs';
import { claimRuns } from './queue/claim-runs';
import { insertRun } from './run-row';
import { buildTestRun } from './test/engines';

const pool = setupPool('automation-api');

/** PostgreSQL uses five custom plans for a prepared statement before it considers a generic one. */
const CUSTOM_PLANS_MAX = 5;

test('claiming, writing and ending runs uses cached plans', async () => {
  const client = await pool.connect();
  try {
    for (let n = 0; n < 2 * CUSTOM_PLANS_MAX; n++) {
      // biome-ignore lint/suspicious/noExplicitAny: one connection stands for the pool
      await claimRuns(client as any, ['executor'], [PYTHON], 10_000);
      await insertRun(client, buildTestRun(), null, undefined);
      await settleRuns(client, 'automation', [], [], []);
    }
    const { rows } = await client.query(
      'SELECT name, custom_plans::int AS anew, generic_plans::int AS kept FROM pg_prepared_statements ORDER BY name',
    );
    expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining(['claim-runs', 'insert-run', 'settle-runs']));
    expect(rows.filter(({ anew }) => anew > CUSTOM_PLANS_MAX)).toEqual([]);
  } finally {
    client.release();
  }
});
