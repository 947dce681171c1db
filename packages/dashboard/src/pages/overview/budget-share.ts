import type { Usage } from './overview-queries';

/** The share of a budget from which the page warns. */
export const BUDGET_WARNING_SHARE = 0.8;

/** Computes the spent share of a worker's monthly budget; null without a budget. */
export function computeBudgetShare({ budget_usd: budget, cost_usd: cost }: Usage['workers'][number]): number | null {
  if (budget === null) return null;
  return budget > 0 ? cost / budget : 1;
}
