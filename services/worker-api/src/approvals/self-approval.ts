/** Whether two credentials are the same person's: who makes a token to approve an own run is still who started it. */
import type { Pool } from 'pg';

/** Tokens make tokens; nobody has made so many in a row. */
const CHAIN_MAX = 10;

/** The ids behind each of these users and tokens: itself, whoever made it, whoever made that. */
async function idsBehind(pool: Pool, ids: string[]): Promise<Map<string, Set<string>>> {
  const { rows } = await pool.query<{ root: string; id: string }>(
    `WITH RECURSIVE behind (root, id, depth) AS (
       SELECT root, root, 0 FROM unnest($1::text[]) AS root
       UNION
       SELECT b.root, t.created_by, b.depth + 1 FROM behind b JOIN tokens t ON t.id = b.id WHERE b.depth < $2
     ) SELECT root, id FROM behind`,
    [[...new Set(ids)], CHAIN_MAX],
  );
  const found = new Map<string, Set<string>>();
  for (const { root, id } of rows) found.set(root, (found.get(root) ?? new Set()).add(id));
  return found;
}

/** Which of the starters are the same person as whoever has these ids. */
export async function sameAs(pool: Pool, deciderIds: string[], starters: string[]): Promise<Set<string>> {
  if (!starters.length) return new Set();
  const behind = await idsBehind(pool, [...deciderIds, ...starters]);
  const decider = new Set(deciderIds.flatMap((id) => [...(behind.get(id) ?? [])]));
  return new Set(starters.filter((id) => [...(behind.get(id) ?? [])].some((each) => decider.has(each))));
}
