import type { Usage } from './overview-queries';

/** From this share of a budget on, it is worth a look. */
export const NEARLY = 0.8;

/** How much of its budget of the month a worker has spent; null without a budget. */
export function spentShare({ budget_usd: budget, cost_usd: cost }: Usage['workers'][number]): number | null {
  if (budget === null) return null;
  return budget > 0 ? cost / budget : 1;
}
