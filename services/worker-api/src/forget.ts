/**
 * What a change means for answers that are cached: call after its commit. They are forgotten here at once, and everywhere
 * else by the event that was committed with the change.
 */
import type { IdentityCache } from '@gantry/auth';

export interface Forget {
  /** Also of a session. */
  token(tokenId: string): void;
  user(userId: string): void;
  workspace(workspaceId: string): void;
  /** All of them. */
  everybody(): void;
}

/** @param announce sends what lies in the outbox */
export function createForget(identities: IdentityCache, announce: () => void): Forget {
  const then =
    <Args extends unknown[]>(evict: (...args: Args) => void) =>
    (...args: Args) => {
      evict(...args);
      announce();
    };
  return {
    token: then(identities.evictToken),
    user: then(identities.evictUser),
    workspace: then(identities.evictWorkspace),
    everybody: then(identities.clear),
  };
}
