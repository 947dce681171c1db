/**
 * Budgets of tokens. What counts: the cost of runs that the token started or repeated, and of runs that those called, each once
 * and when it has ended; for a token with a budget also those of the tokens that it made. Runs that events, schedules or
 * webhooks start count for nobody.
 */
import type { ReactionTo, Restriction, runFinished } from '@gantry/events';
import { forbidden } from '@gantry/http';
import type { Sql } from '@gantry/postgres';
import type { Run } from '@gantry/run-engine';
import type { Pool } from 'pg';

export type TokenBudgets = NonNullable<Restriction['budgets']>;

/** Runs under way are not known yet, so a token may end a little above its budget. @throws AppError 403 `budget_exceeded` */
export async function checkTokenBudgets(sql: Sql, budgets: TokenBudgets): Promise<void> {
  const spending = await readTokenSpending(sql, budgets);
  for (const { tokenId, usd } of budgets) {
    const spent = spending.get(tokenId) ?? 0;
    if (spent < usd) continue;
    throw forbidden(
      'budget_exceeded',
      `restrict.budget_usd: the runs of this token have cost ${spent.toFixed(4)} USD, and its budget is ${usd} USD; use another token`,
    );
  }
}

/** In USD by token, of those with a budget; a token that has spent nothing is not in it. */
export async function readTokenSpending(sql: Sql, budgets: TokenBudgets): Promise<Map<string, number>> {
  const { rows } = await sql.query<{ token_id: string; usd: number }>(
    'SELECT token_id, usd FROM token_spending WHERE token_id = ANY($1)',
    [budgets.map(({ tokenId }) => tokenId)],
  );
  return new Map(rows.map((row) => [row.token_id, row.usd]));
}

/** In the transaction that makes the run. */
export async function noteTokenRun(tx: Sql, { id, workspaceId }: Run, budgets: TokenBudgets): Promise<void> {
  await tx.query('INSERT INTO token_runs (run_id, workspace_id, budgets) VALUES ($1, $2, $3)', [
    ...[id, workspaceId, JSON.stringify(budgets)],
  ]);
}

/** Of the token that started a run which goes on, and of those that it comes from; null: none has a budget. */
export async function tokenBudgetsOfRun(sql: Sql, runId: string): Promise<TokenBudgets | null> {
  const { rows } = await sql.query<{ budgets: TokenBudgets }>('SELECT budgets FROM token_runs WHERE run_id = $1', [
    runId,
  ]);
  return rows[0]?.budgets ?? null;
}

/** A statement that counts for tokens. @param ended what counts now: workspace_id, budgets, usd */
export const countForTokens = (ended: string): string => `WITH ended AS (${ended})
  INSERT INTO token_spending AS known (token_id, workspace_id, usd)
  SELECT budget ->> 'tokenId', ended.workspace_id, sum(ended.usd)
  FROM ended CROSS JOIN LATERAL jsonb_array_elements(ended.budgets) AS budget GROUP BY 1, 2
  ON CONFLICT (token_id) DO UPDATE SET usd = known.usd + excluded.usd`;

const COUNT_ONE = countForTokens(
  'DELETE FROM token_runs WHERE run_id = $1 RETURNING workspace_id, budgets, $2::double precision AS usd',
);
const COUNT_LEFT = countForTokens(`DELETE FROM token_runs t USING runs r
  WHERE r.id = t.run_id AND r.finished_at < now() - interval '10 minutes'
  RETURNING t.workspace_id, t.budgets, r.cost_usd AS usd`);

/** One statement takes the run away and counts it: it counts once. */
export const countTokenRun: ReactionTo<typeof runFinished> = {
  name: 'token-run-cost',
  wants: ({ source }) => source === 'worker',
  handle: async (tx, { data: { runId, costUsd } }) => {
    await tx.query(COUNT_ONE, [runId, costUsd ?? 0]);
  },
};

/** Runs whose end was announced to a replica of a version that does not count them. */
export const countLeftTokenRuns = (pool: Pool): Promise<unknown> => pool.query(COUNT_LEFT);
