/** Money is reserved before a call: one that could cost more than is left is not made. */

import { type AppError, forbidden } from '@gantry/errors';
import { newId } from '@gantry/events';
import { type Sql, transaction } from '@gantry/postgres';
import type { Pool } from 'pg';
import { loadMonthlyCostUsd } from '../runs/month-cost';
import { loadTokenSpending, lockBudgets } from '../runs/token-budget';
import {
  insertModelCall,
  loadBudgetUsage,
  loadRunSpending,
  loadTokenReservations,
  loadTurnSpending,
  loadWorkerReservations,
  type NewModelCall,
  toMonth,
} from './model-call-repository';

/** @returns the id of the call. @throws AppError 403 `budget_exceeded`, `model_without_price` */
export async function reserveModelCall(pool: Pool, requestedCall: Omit<NewModelCall, 'id'>): Promise<string> {
  const call = { ...requestedCall, id: newId('mdl_') };
  await transaction(pool, async (tx) => {
    await lockBudgets(tx, call.workspaceId);
    await requireBudget(tx, call);
    await insertModelCall(tx, call);
  });
  return call.id;
}

async function requireBudget(
  tx: Sql,
  { workspaceId, budgets, worker, runId, runBudgetUsd, turnId, turnBudgetUsd, model, reservedUsd, now }: NewModelCall,
): Promise<void> {
  if (turnId !== null && turnBudgetUsd !== undefined && reservedUsd !== null) {
    requireWithinBudget("this repair's model calls", await loadTurnSpending(tx, turnId), turnBudgetUsd, reservedUsd);
  }
  const { budgetUsd, usd, reservedUsd: reserved } = await loadBudgetUsage(tx, workspaceId, toMonth(now));
  if (budgetUsd === null && runBudgetUsd === undefined && !budgets?.length && !worker) return;
  if (reservedUsd === null) throw createUnpricedError(model);
  if (budgetUsd !== null) {
    const spender = "models.monthly_budget_usd: this workspace's model calls";
    requireWithinBudget(spender, usd + reserved, budgetUsd, reservedUsd);
  }
  if (runId !== undefined && runBudgetUsd !== undefined) {
    const spent = await loadRunSpending(tx, runId);
    requireWithinBudget("budget_usd: this run's model calls", spent, runBudgetUsd, reservedUsd);
  }
  if (worker) {
    const ended = await loadMonthlyCostUsd(tx, { uid: worker.uid, workspaceId }, now);
    const spent = ended + (await loadWorkerReservations(tx, workspaceId, worker.uid));
    requireWithinBudget("limits.budget_usd_per_month: this worker's runs", spent, worker.budgetUsd, reservedUsd);
  }
  const spending = await loadTokenSpending(tx, budgets ?? []);
  for (const { tokenId, usd: budget } of budgets ?? []) {
    const spent = (spending.get(tokenId) ?? 0) + (await loadTokenReservations(tx, workspaceId, tokenId));
    requireWithinBudget("restrict.budget_usd: this token's runs and model calls", spent, budget, reservedUsd);
  }
}

const formatUsd = (usd: number): string => `${usd.toFixed(4)} USD`;

/** @throws AppError 403 */
function requireWithinBudget(spender: string, spent: number, budget: number, next: number): void {
  if (spent + next > budget) {
    throw forbidden(
      'budget_exceeded',
      `${spender} have used ${formatUsd(spent)} of ${formatUsd(budget)}, and this call could cost ${formatUsd(next)}`,
    );
  }
}

const createUnpricedError = (model: string): AppError =>
  forbidden(
    'model_without_price',
    `a budget applies, but ${model} has no price; the operator can set prices in MODEL_PROVIDERS, and an admin can set prices for the workspace's own models with PUT /api/models/prices`,
  );
