/**
 * Budgets of tokens. What counts: the cost of runs that the token started or repeated, and of runs that those called,
 * each once and when it has ended; for a token with a budget also those of the tokens that it made. Runs that events,
 * schedules or webhooks start count for no token.
 */

import { forbidden } from '@gantry/errors';
import type { EventHandlerFor, Restriction, runFinished } from '@gantry/events';
import { findRow, type Sql } from '@gantry/postgres';
import { buildEndedRunsSql, buildRecentCostsSql, type Run } from '@gantry/run-engine';
import type { Pool } from 'pg';

export type TokenBudgets = NonNullable<Restriction['budgets']>;

/** Least expected cost of a run, in US dollars, so that any budget bounds how many runs are under way at once. */
const ESTIMATE_USD_MIN = 0.001;
/** The newest runs whose median cost is the estimate for the next one. */
const ESTIMATED_FROM_RUNS = 20;

/** A token may end above its budget by what its last run costs. @throws AppError 403 `budget_exceeded` */
export async function checkTokenBudgets(sql: Sql, budgets: TokenBudgets): Promise<void> {
  const spending = await loadTokenSpending(sql, budgets);
  for (const { tokenId, usd } of budgets) requireRemainingBudget(spending.get(tokenId) ?? 0, 0, usd);
}

/** Until the transaction ends, no other run or call of a model reserves in this workspace. */
export const lockBudgets = (tx: Sql, workspaceId: string): Promise<unknown> =>
  tx.query("SELECT pg_advisory_xact_lock(hashtextextended('model budgets ' || $1, 0))", [workspaceId]);

/**
 * In the transaction that makes the run, and before it: starts of one workspace take turns until that commits, so each
 * of them sees what the others have reserved. What a run calls is checked without reservations: its own would refuse
 * it.
 * @throws AppError 403 `budget_exceeded`
 */
export async function reserveTokenBudgets(tx: Sql, workspaceId: string, budgets: TokenBudgets): Promise<void> {
  await lockBudgets(tx, workspaceId);
  const spending = await loadTokenSpending(tx, budgets);
  for (const { tokenId, usd } of budgets) {
    const { rows } = await tx.query<{ usd: number }>(
      'SELECT coalesce(sum(reserved_usd), 0) AS usd FROM token_runs WHERE workspace_id = $1 AND budgets @> $2::jsonb',
      [workspaceId, JSON.stringify([{ tokenId }])],
    );
    requireRemainingBudget(spending.get(tokenId) ?? 0, rows[0]?.usd ?? 0, usd);
  }
}

function requireRemainingBudget(spent: number, reserved: number, budget: number): void {
  if (spent + reserved < budget) return;
  const underWay = reserved > 0 ? `, those in progress are expected to cost ${reserved.toFixed(4)} USD` : '';
  throw forbidden(
    'budget_exceeded',
    `restrict.budget_usd: this token's runs have cost ${spent.toFixed(4)} USD${underWay}, and the token's budget is ${budget} USD; ${reserved > 0 ? 'wait for the runs in progress to end, or use another token' : 'use another token'}`,
  );
}

/** In USD by token, of those with a budget; a token that has spent nothing is not in it. */
export async function loadTokenSpending(sql: Sql, budgets: TokenBudgets): Promise<Map<string, number>> {
  const { rows } = await sql.query<{ token_id: string; usd: number }>(
    'SELECT token_id, usd FROM token_spending WHERE token_id = ANY($1)',
    [budgets.map(({ tokenId }) => tokenId)],
  );
  return new Map(rows.map((row) => [row.token_id, row.usd]));
}

/** In the transaction that makes the run. */
export async function insertTokenRun(
  tx: Sql,
  { id, workspaceId, subjectId }: Run,
  budgets: TokenBudgets,
): Promise<void> {
  await tx.query(
    `INSERT INTO token_runs (run_id, workspace_id, budgets, reserved_usd)
     SELECT $1, $2, $3, greatest($5, percentile_cont(0.5) WITHIN GROUP (ORDER BY cost_usd))
     FROM (${buildRecentCostsSql('$2', '$4', '$6')}) AS ended`,
    [id, workspaceId, JSON.stringify(budgets), subjectId, ESTIMATE_USD_MIN, ESTIMATED_FROM_RUNS],
  );
}

/** Returns the budget of the token that started an active run, and of its ancestors; null: none has one. */
export const loadTokenBudgets = async (sql: Sql, runId: string): Promise<TokenBudgets | null> =>
  (await findRow<{ budgets: TokenBudgets }>(sql, 'SELECT budgets FROM token_runs WHERE run_id = $1', [runId]))
    ?.budgets ?? null;

/** Query: ids of the runs of a workspace whose cost counts for tokens when they end. */
export const buildTokenRunsSql = (workspaceId: string): string =>
  `SELECT run_id FROM token_runs WHERE workspace_id = ${workspaceId}`;

/** Condition: the run is one of those. */
export const buildCountedAtEndSql = (runId: string): string =>
  `EXISTS (SELECT FROM token_runs t WHERE t.run_id = ${runId})`;

/** A statement that counts for tokens. @param endedSql what counts now: workspace_id, budgets, usd */
export const buildTokenSpendingSql = (endedSql: string): string => `WITH ended AS (${endedSql})
  INSERT INTO token_spending AS known (token_id, workspace_id, usd)
  SELECT budget ->> 'tokenId', ended.workspace_id, sum(ended.usd)
  FROM ended CROSS JOIN LATERAL jsonb_array_elements(ended.budgets) AS budget GROUP BY 1, 2
  ON CONFLICT (token_id) DO UPDATE SET usd = known.usd + excluded.usd`;

const COUNT_ONE = buildTokenSpendingSql(
  'DELETE FROM token_runs WHERE run_id = $1 RETURNING workspace_id, budgets, $2::double precision AS usd',
);
const COUNT_LEFT = buildTokenSpendingSql(`DELETE FROM token_runs t
  USING (${buildEndedRunsSql("now() - interval '10 minutes'")}) r WHERE r.id = t.run_id
  RETURNING t.workspace_id, t.budgets, r.cost_usd AS usd`);

/** One statement takes the run away and counts it: it counts once. */
export const countTokenRun: EventHandlerFor<typeof runFinished> = {
  name: 'token-run-cost',
  wants: ({ source }) => source === 'worker',
  handle: async (tx, { data: { runId, costUsd } }) => {
    await tx.query(COUNT_ONE, [runId, costUsd ?? 0]);
  },
};

/** Runs whose end was announced to a replica of a version that does not count them. */
export const recordMissedTokenRuns = (pool: Pool): Promise<unknown> => pool.query(COUNT_LEFT);
