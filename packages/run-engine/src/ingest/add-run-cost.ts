import type { Sql } from '@gantry/postgres';

/** Adds a cost outside of its own process to a run. In US dollars. */
export async function addRunCost(tx: Sql, runId: string, usd: number): Promise<void> {
  await tx.query({
    name: 'book-run-cost',
    text: 'UPDATE runs SET cost_usd = cost_usd + $2 WHERE id = $1',
    values: [runId, usd],
  });
}
