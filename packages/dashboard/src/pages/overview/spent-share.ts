import type { Usage } from './overview-queries';

/** From this share of a budget on, it is worth a look. */
export const NEARLY = 0.8;

/** The share of its budget of the month that a worker has spent; null without a budget. */
export function spentShare({ budget_usd: budget, cost_usd: cost }: Usage['workers'][number]): number | null {
  if (budget === null) return null;
  return budget > 0 ? cost / budget : 1;
}
