/** Whether two credentials belong to the same person: a token created to approve one's own run still counts as its starter. */
import type { Pool } from 'pg';

/** Tokens can create tokens; a realistic chain is shorter. */
const CHAIN_MAX = 10;

/** The ids behind each of these users and tokens: itself and its chain of creators. */
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

/** The starters who are the same person as the holder of these ids. */
export async function sameAs(pool: Pool, deciderIds: string[], starters: string[]): Promise<Set<string>> {
  if (!starters.length) return new Set();
  const behind = await idsBehind(pool, [...deciderIds, ...starters]);
  const decider = new Set(deciderIds.flatMap((id) => [...(behind.get(id) ?? [])]));
  return new Set(starters.filter((id) => [...(behind.get(id) ?? [])].some((each) => decider.has(each))));
}
