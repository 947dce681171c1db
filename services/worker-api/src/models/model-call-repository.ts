/**
 * Calls of models. A call is a row before it is made, with the most that it can cost; the row is settled together with
 * what the call belongs to. Until then its maximum counts against budgets, so several at once never share what is left
 * for one.
 */
import type { SurfaceSchemas } from '@gantry/openapi';
import { createUnnamedStatement, deleteOldRows, findRow, listRows, type Sql } from '@gantry/postgres';
import { addRunCost, buildLiveRunsSql } from '@gantry/run-engine';
import type { Pool } from 'pg';
import { buildModelBudgetSql } from '../accounts/workspaces/workspace-repository';
import {
  buildCountedAtEndSql,
  buildTokenRunsSql,
  buildTokenSpendingSql,
  type TokenBudgets,
} from '../runs/token-budget';
import { findBudget } from '../workers/worker-queries';
import type { Usage } from './model-cost';
import type { Price } from './model-settings';

export interface Spender {
  workspaceId: string;
  userId: string | null;
  tokenId: string | null;
  /** Budgets of the calling token and of its ancestors. */
  budgets: TokenBudgets | null;
  /** Absent: no run asks. */
  runId?: string;
  /** The budget for the models of that run. */
  runBudgetUsd?: number | undefined;
  /** Budget of that turn's calls in US dollars; it binds models with prices. */
  turnBudgetUsd?: number;
  /** That the run is of, where it has a budget. */
  worker?: { uid: string; budgetUsd: number } | null;
}

export interface NewModelCall extends Spender {
  id: string;
  conversationId: string | null;
  turnId: string | null;
  model: string;
  /** That holds when it begins, whatever holds when it ends. */
  price: Price | null;
  reservedUsd: number | null;
  now: Date;
}

export interface ModelCallEnding {
  outcome: 'ok' | 'failed' | 'stopped';
  errorCode: string | null;
  usage: Usage;
  usd: number | null;
}

export interface BudgetUsage {
  /** The budget of the workspace for a month; null: none. */
  budgetUsd: number | null;
  /** The cost of this month: of ended calls, and the most that active calls can cost. */
  usd: number;
  reservedUsd: number;
}

const STANDING = `SELECT ${buildModelBudgetSql('$1')} AS budget, sum(usd) AS usd,
    sum(reserved_usd) FILTER (WHERE outcome = 'started') AS reserved
  FROM model_calls WHERE workspace_id = $1 AND started_at >= $2 AND started_at < $3`;

export async function loadBudgetUsage(sql: Sql, workspaceId: string, { from, until }: Month): Promise<BudgetUsage> {
  const { rows } = await sql.query<{ budget: number | null; usd: number | null; reserved: number | null }>(STANDING, [
    ...[workspaceId, from, until],
  ]);
  const [{ budget, usd, reserved } = { budget: null, usd: null, reserved: null }] = rows;
  return { budgetUsd: budget, usd: usd ?? 0, reservedUsd: reserved ?? 0 };
}

/** Sums what the calls that meet the condition have cost, and the most that active or lost ones can have cost. */
async function sumCosts(sql: Sql, condition: string, values: unknown[]): Promise<number> {
  const sum = "sum(CASE outcome WHEN 'started' THEN reserved_usd ELSE usd END)";
  const query = `SELECT ${sum} AS usd FROM model_calls WHERE ${condition}`;
  return (await findRow<{ usd: number | null }>(sql, query, values))?.usd ?? 0;
}

/** Sums the most that active calls of a token and its descendants can cost, and the cost of their active runs. */
export const loadTokenReservations = (sql: Sql, workspaceId: string, tokenId: string): Promise<number> =>
  sumCosts(
    sql,
    `workspace_id = $1 AND budgets @> $2::jsonb
       AND (outcome = 'started' OR outcome <> 'lost' AND run_id IN (${buildTokenRunsSql('$1')}))`,
    [workspaceId, JSON.stringify([{ tokenId }])],
  );

/** Null: the worker has no budget. */
export async function findWorkerBudget(
  sql: Sql,
  workspaceId: string,
  uid: string,
): Promise<{ uid: string; budgetUsd: number } | null> {
  const budget = await findBudget(sql, workspaceId, uid);
  return budget === null ? null : { uid, budgetUsd: budget };
}

/**
 * Sums what models have cost, or can cost, in active runs of a worker: ended runs are in its cost of the month.
 */
export const loadWorkerReservations = (sql: Sql, workspaceId: string, uid: string): Promise<number> =>
  sumCosts(sql, `run_id IN (${buildLiveRunsSql('$1', '$2')}) AND outcome <> 'lost'`, [workspaceId, uid]);

export const loadRunSpending = (sql: Sql, runId: string): Promise<number> => sumCosts(sql, 'run_id = $1', [runId]);

export const loadTurnSpending = (sql: Sql, turnId: string): Promise<number> => sumCosts(sql, 'turn_id = $1', [turnId]);

const INSERT = createUnnamedStatement(`
  INSERT INTO model_calls (id, workspace_id, user_id, token_id, run_id, conversation_id, turn_id, model, price, reserved_usd,
    budgets, started_at)
  VALUES ($id, $workspaceId, $userId, $tokenId, $runId, $conversationId, $turnId, $model, $price, $reservedUsd, $budgets,
    $now)`);

export const insertModelCall = (
  tx: Sql,
  { budgets, runId, price, worker: _, runBudgetUsd: __, turnBudgetUsd: ___, ...call }: NewModelCall,
): Promise<unknown> => {
  const [booked, counted] = [price, budgets].map((value) => value && JSON.stringify(value));
  return tx.query(INSERT({ ...call, runId: runId ?? null, price: booked, budgets: counted }));
};

/**
 * By compare-and-set: a call that counts as lost by now stays so. What a run asks is part of the run's cost, which
 * counts for tokens when the run ends; where that was before the call did, the call counts by itself.
 */
const SETTLE = createUnnamedStatement(
  buildTokenSpendingSql(`UPDATE model_calls SET outcome = $outcome, error_code = $errorCode, usd = $usd,
      input_tokens = $inputTokens, cached_tokens = $cacheReadTokens, output_tokens = $outputTokens,
      estimated = $isEstimated, ended_at = $now
    WHERE id = $id AND outcome = 'started'
    RETURNING workspace_id, CASE WHEN run_id IS NULL OR NOT ${buildCountedAtEndSql('model_calls.run_id')}
        THEN coalesce(budgets, '[]'::jsonb) ELSE '[]'::jsonb END AS budgets,
      coalesce(usd, 0) AS usd`),
);

/** In a transaction: what a run has cost is the sum of its calls that are settled, and of what its process used. */
export async function settleModelCall(
  tx: Sql,
  id: string,
  { usage, ...ending }: ModelCallEnding,
  now: Date,
): Promise<void> {
  const call = await findRow<{ run_id: string | null }>(
    tx,
    "SELECT run_id FROM model_calls WHERE id = $1 AND outcome = 'started' FOR UPDATE",
    [id],
  );
  if (!call) return;
  // Before the budgets of tokens, which are counted behind the end of a run as well.
  if (call.run_id !== null && ending.usd) await addRunCost(tx, call.run_id, ending.usd);
  await tx.query(SETTLE({ ...usage, ...ending, id, now }));
}

/** No call takes as long: its replica has died, and it counts with the most that it can have cost. */
const LOST_AFTER = '15 minutes';
const RETENTION = '400 days';

/** Settles calls whose replica is gone. @param conditionSql SQL, a condition for a call */
const buildMarkLostSql = (conditionSql: string): string =>
  buildTokenSpendingSql(`UPDATE model_calls SET outcome = 'lost', usd = reserved_usd, estimated = true, ended_at = now()
    WHERE outcome = 'started' AND ${conditionSql}
    RETURNING workspace_id, coalesce(budgets, '[]'::jsonb) AS budgets, coalesce(usd, 0) AS usd`);

const MARK_OLD_LOST = buildMarkLostSql(`started_at < now() - interval '${LOST_AFTER}'`);
const MARK_TURN_LOST = buildMarkLostSql('turn_id = $1');

export async function sweepModelCalls(pool: Pool): Promise<void> {
  await pool.query(MARK_OLD_LOST);
  await deleteOldRows(pool, 'model_calls', `started_at < now() - interval '${RETENTION}' AND outcome <> 'started'`);
}

/** Calls of a turn whose replica has died. */
export const markModelCallsLost = (tx: Sql, turnId: string): Promise<unknown> => tx.query(MARK_TURN_LOST, [turnId]);

export interface Month {
  from: Date;
  until: Date;
}

/** The calendar month of UTC. */
export function toMonth(time: Date): Month {
  const [year, month] = [time.getUTCFullYear(), time.getUTCMonth()];
  return { from: new Date(Date.UTC(year, month)), until: new Date(Date.UTC(year, month + 1)) };
}

type UsageRow = SurfaceSchemas<'worker'>['ModelUsage']['models'][number] & { unpriced_calls: number };

/** By model, what cost most first. */
export const listModelUsage = (sql: Sql, workspaceId: string, { from, until }: Month): Promise<UsageRow[]> =>
  listRows(
    sql,
    `SELECT model, count(*)::int AS calls, count(*) FILTER (WHERE outcome IN ('failed', 'lost'))::int AS failed_calls,
       count(*) FILTER (WHERE reserved_usd IS NULL)::int AS unpriced_calls,
       coalesce(sum(input_tokens), 0)::float8 AS input_tokens, coalesce(sum(cached_tokens), 0)::float8 AS cached_tokens,
       coalesce(sum(output_tokens), 0)::float8 AS output_tokens, coalesce(sum(usd), 0)::float8 AS usd
     FROM model_calls WHERE workspace_id = $1 AND started_at >= $2 AND started_at < $3
     GROUP BY model ORDER BY usd DESC, model LIMIT 1000`,
    [workspaceId, from, until],
  );

/** Sums the cost of a turn's calls so far. */
export async function loadTurnUsage(sql: Sql, turnId: string) {
  const { rows } = await sql.query<{ input_tokens: number; output_tokens: number; usd: number | null }>(
    `SELECT coalesce(sum(input_tokens), 0)::float8 AS input_tokens, coalesce(sum(output_tokens), 0)::float8 AS output_tokens,
       sum(usd)::float8 AS usd FROM model_calls WHERE turn_id = $1`,
    [turnId],
  );
  return rows[0] ?? { input_tokens: 0, output_tokens: 0, usd: null };
}
