/** Counts the rows of a table of results by their outcome. */

/** Value: how many rows of a group have each outcome, and how many there are, as JSON. */
export const buildResultCountsSql = (column: string, outcomes: readonly string[]): string =>
  `json_build_object(${outcomes.map((one) => `'${one}', count(*) FILTER (WHERE ${column} = '${one}'), `).join('')}'total', count(*))`;

/** Rows without an outcome are counted in the total alone. */
export function countResults<Outcome extends string>(
  outcomes: readonly Outcome[],
  results: { outcome: Outcome | null }[],
): Record<Outcome | 'total', number> {
  const counts = Object.fromEntries(outcomes.map((one) => [one, 0])) as Record<Outcome, number>;
  for (const { outcome } of results) if (outcome) counts[outcome]++;
  return { ...counts, total: results.length };
}
