/**
 * Detects credentials of the same person: a token created to approve one's own run still counts as its starter.
 */
import type { Pool } from 'pg';
import { loadCreatorChains } from '../accounts/tokens/token-repository';

/** Returns the starters who are the same person as the holder of these ids. */
export async function findSelfApprovingStarters(
  pool: Pool,
  deciderIds: string[],
  starters: string[],
): Promise<Set<string>> {
  if (!starters.length) return new Set();
  const creatorsById = await loadCreatorChains(pool, [...deciderIds, ...starters]);
  const decider = new Set(deciderIds.flatMap((id) => [...(creatorsById.get(id) ?? [])]));
  // Bounded: at most CREATOR_CHAIN_MAX ids stand behind each starter.
  return new Set(starters.filter((id) => [...(creatorsById.get(id) ?? [])].some((each) => decider.has(each))));
}
