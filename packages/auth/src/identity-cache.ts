/**
 * Short-lived cache from credentials to identities.
 *
 * Guarantee: an entry is used for at most FRESH_MS, and never after `evict` of its token or user, even if its lookup
 * was in flight at that moment. A revoked token ends within seconds while events arrive, and within FRESH_MS otherwise.
 */
import { createHash } from 'node:crypto';
import type { Identity } from '@gantry/events';
import { LRUCache } from 'lru-cache';
import type { Credential } from './credential';

export type Identify = (credential: Credential) => Promise<Identity | null>;

export type IdentityCache = ReturnType<typeof createIdentityCache>;

const FRESH_MS = 15_000;
/** An identity in use is looked up again ahead: during an outage shorter than the rest of FRESH_MS it still serves. */
const RENEW_MS = 8_000;
/** Between two attempts. */
const RENEW_AGAIN_MS = 1_000;
/** An invalid credential sent in a loop causes one lookup in this time. */
const NEGATIVE_MS = 3_000;
/** About 1 KB each. */
const ENTRIES_MAX = 10_000;

interface Entry {
  identity: Identity | null;
  until: number;
  renewAt: number;
}

/** @param lookUp may throw: nothing is cached then */
export function createIdentityCache(lookUp: Identify, now: () => number = Date.now) {
  const entries = new LRUCache<string, Entry>({ max: ENTRIES_MAX });
  const pendingLookups = new Map<string, Promise<Identity | null>>();
  let evictions = 0;

  async function lookUpAndCache(key: string, credential: Credential): Promise<Identity | null> {
    const before = evictions;
    const identity = await lookUp(credential);
    const until = Math.min(
      now() + (identity ? FRESH_MS : NEGATIVE_MS),
      identity?.expiresAt ?? Number.POSITIVE_INFINITY,
    );
    const renewAt = identity ? now() + RENEW_MS : until;
    // Something was revoked during the lookup: its result may predate the revocation.
    if (before === evictions) entries.set(key, { identity, until, renewAt });
    return identity;
  }

  function startLookup(key: string, credential: Credential): Promise<Identity | null> {
    const pending = pendingLookups.get(key);
    if (pending) return pending;
    const lookup = lookUpAndCache(key, credential).finally(() => {
      if (pendingLookups.get(key) === lookup) pendingLookups.delete(key);
    });
    pendingLookups.set(key, lookup);
    return lookup;
  }

  function evict(isStale: (identity: Identity) => boolean) {
    evictions++;
    pendingLookups.clear();
    for (const [key, { identity }] of [...entries]) if (identity && isStale(identity)) entries.delete(key);
  }

  return {
    identify: async (credential: Credential): Promise<Identity | null> => {
      // The cache contains no secret that a heap dump could reveal.
      const key = createHash('sha256').update(`${credential.kind} ${credential.secret}`).digest('base64');
      const cached = entries.get(key);
      if (!cached || cached.until <= now()) return startLookup(key, credential);
      if (cached.renewAt <= now()) {
        cached.renewAt = now() + RENEW_AGAIN_MS;
        // A request that has no identity to use meanwhile reports the failure.
        startLookup(key, credential).catch(() => {});
      }
      return cached.identity;
    },
    evictToken: (tokenId: string) => evict((identity) => identity.tokenId === tokenId),
    evictUser: (userId: string) => evict((identity) => identity.userId === userId),
    /** Drops the identities of all members of the workspace. */
    evictWorkspace: (workspaceId: string) => evict((identity) => Object.hasOwn(identity.memberships, workspaceId)),
    clear: () => evict(() => true),
    /** Has each identity looked up again with its next use. */
    renewAll: () => {
      for (const entry of entries.values()) entry.renewAt = 0;
    },
  };
}
