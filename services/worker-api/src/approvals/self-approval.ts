/**
 * Detects credentials of the same person: a token created to approve one's own run still counts as its starter.
 */
import type { Pool } from 'pg';
import { listCreators } from '../accounts/tokens/token-repository';

/** Returns the starters who are the same person as the holder of these ids. */
export async function sameAs(pool: Pool, deciderIds: string[], starters: string[]): Promise<Set<string>> {
  if (!starters.length) return new Set();
  const behind = await listCreators(pool, [...deciderIds, ...starters]);
  const decider = new Set(deciderIds.flatMap((id) => [...(behind.get(id) ?? [])]));
  // Bounded: at most CHAIN_MAX ids stand behind each starter.
  return new Set(starters.filter((id) => [...(behind.get(id) ?? [])].some((each) => decider.has(each))));
}
