/** Requests of executors for the lock of a run's version, to the service that owns the run. See ADR 65. */
import { z } from 'zod';
import { lockedPackages, lockPlatform } from './dependency-lock';
import { attemptIdentity } from './run-protocol';

/**
 * Requests the lock of a run's version for a platform. `packages`: the proposal of an executor that has resolved them;
 * the first proposal is the lock.
 */
export const lockRequest = z.object({
  ...attemptIdentity,
  platform: lockPlatform,
  packages: lockedPackages.optional(),
});
export type LockRequest = z.infer<typeof lockRequest>;
/** `packages`: the lock, by the first proposal; null: there is none. */
export const lockReply = z.union([
  z.object({ packages: lockedPackages.nullable() }),
  z.object({ refused: z.string() }),
]);
export type LockReply = z.infer<typeof lockReply>;
