/** What a worker's runs of a month cost together: counted once for each run that has ended, in its month of ending. */

import type { ReactionTo, runFinished } from '@gantry/events';
import type { Sql } from '@gantry/postgres';

/** US dollars; 0 before the first run of the month (UTC) has ended. */
export async function monthCostUsd(
  sql: Sql,
  { uid, workspaceId }: { uid: string; workspaceId: string },
  at: Date,
): Promise<number> {
  const { rows } = await sql.query(
    `SELECT coalesce((SELECT usd FROM worker_month_costs WHERE worker_uid = $1 AND month = $2::date), 0) + ${TESTS} AS usd`,
    [uid, monthOf(at), workspaceId],
  );
  return rows[0].usd;
}

/** The end of a test is announced to nobody who would count it; they are few. */
const TESTS = `coalesce((SELECT sum(cost_usd) FROM runs WHERE workspace_id = $3 AND trigger = 'test' AND subject_id = $1
  AND created_at >= $2::date AT TIME ZONE 'UTC'), 0)`;

/** A run's cost is added once, when it has ended; that of a worker that was purged meanwhile counts nowhere. */
export const countRunCost: ReactionTo<typeof runFinished> = {
  name: 'run-cost',
  wants: ({ source, costUsd }) => source === 'worker' && Boolean(costUsd),
  handle: async (tx, { data }) => {
    await tx.query(
      `INSERT INTO worker_month_costs AS known (worker_uid, month, usd)
       SELECT uid, $2::date, $3 FROM workers WHERE uid = $1
       ON CONFLICT (worker_uid, month) DO UPDATE SET usd = known.usd + excluded.usd`,
      [data.subjectId, monthOf(new Date(data.finishedAt)), data.costUsd],
    );
  },
};

const monthOf = (at: Date): string => `${at.toISOString().slice(0, 7)}-01`;
