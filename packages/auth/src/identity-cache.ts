/**
 * Remembering for a short time what a credential stands for.
 *
 * Guarantee: an answer is used for at most FRESH_MS, and not at all after `evict` of its token or user, also when it was
 * under way at that moment. So a revoked token ends within seconds while events arrive, and within FRESH_MS when none do.
 */
import { createHash } from 'node:crypto';
import type { Identity } from '@gantry/events';
import type { Credential } from './credential';

export type Identify = (credential: Credential) => Promise<Identity | null>;

export interface IdentityCache {
  identify: Identify;
  evictToken(tokenId: string): void;
  evictUser(userId: string): void;
  /** Everybody who may enter it. */
  evictWorkspace(workspaceId: string): void;
  clear(): void;
}

const FRESH_MS = 15_000;
/** A wrong credential that is sent in a loop costs one question in this time. */
const NEGATIVE_MS = 3_000;
/** About 1 KB each. */
const ENTRIES_MAX = 10_000;

interface Entry {
  identity: Identity | null;
  until: number;
}

/** @param ask may throw: nothing is remembered then */
export function cacheIdentities(ask: Identify, now: () => number = Date.now): IdentityCache {
  const entries = new Map<string, Entry>();
  const underWay = new Map<string, Promise<Identity | null>>();
  let evictions = 0;

  async function askAndKeep(key: string, credential: Credential): Promise<Identity | null> {
    const before = evictions;
    const identity = await ask(credential);
    const until = Math.min(
      now() + (identity ? FRESH_MS : NEGATIVE_MS),
      identity?.expiresAt ?? Number.POSITIVE_INFINITY,
    );
    // Something was revoked since the question left: this answer may be older than that.
    if (before === evictions) keep(key, { identity, until });
    return identity;
  }

  /** A Map remembers the order of insertion, which makes it a queue of what was used longest ago. */
  function keep(key: string, entry: Entry) {
    entries.delete(key);
    entries.set(key, entry);
    if (entries.size > ENTRIES_MAX) entries.delete(entries.keys().next().value as string);
  }

  function evict(stale: (identity: Identity) => boolean) {
    evictions++;
    underWay.clear();
    for (const [key, { identity }] of entries) if (identity && stale(identity)) entries.delete(key);
  }

  return {
    identify: async (credential) => {
      // The cache holds no secret that a heap dump could give away.
      const key = createHash('sha256').update(`${credential.kind} ${credential.secret}`).digest('base64');
      const known = entries.get(key);
      if (known && known.until > now()) {
        keep(key, known);
        return known.identity;
      }
      const asked = underWay.get(key);
      if (asked) return asked;
      const asking = askAndKeep(key, credential).finally(() => {
        if (underWay.get(key) === asking) underWay.delete(key);
      });
      underWay.set(key, asking);
      return asking;
    },
    evictToken: (tokenId) => evict((identity) => identity.tokenId === tokenId),
    evictUser: (userId) => evict((identity) => identity.userId === userId),
    evictWorkspace: (workspaceId) => evict((identity) => Object.hasOwn(identity.memberships, workspaceId)),
    clear: () => evict(() => true),
  };
}
