import type { Sql } from '@gantry/postgres';

/** Adds to the cost of a run what something else than its own process has cost. In US dollars. */
export async function bookCost(tx: Sql, runId: string, usd: number): Promise<void> {
  await tx.query({
    name: 'book-run-cost',
    text: 'UPDATE runs SET cost_usd = cost_usd + $2 WHERE id = $1',
    values: [runId, usd],
  });
}
