/** Defines the exact packages of a version: those that its first run was installed with, and each later one gets. */
import { createHash } from 'node:crypto';
import { z } from 'zod';

export const LOCKED_PACKAGES_MAX = 1_000;

const digest = z.string().regex(/^[0-9a-f]{64}$/);

export const lockedPackage = z.object({
  name: z.string().min(1).max(200),
  version: z.string().min(1).max(100),
  /** Name of the wheel. */
  file: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.!+-]{0,250}\.whl$/),
  sha256: digest,
});
export type LockedPackage = z.infer<typeof lockedPackage>;

export const lockedPackages = z.array(lockedPackage).max(LOCKED_PACKAGES_MAX);

/** Wheels differ between versions of Python and kinds of machines: `cp311-linux-x64`. */
export const lockPlatform = z.string().regex(/^[a-z0-9][a-z0-9_.-]{0,63}$/);

/** Digests of locks by platform, in jobs: an executor that has such a set installed need not read the lock itself. */
export const lockDigests = z.record(lockPlatform, digest);

/** Computes the digest of a lock, independent of the order of its packages. */
export function computeLockDigest(packages: readonly LockedPackage[]): string {
  const files = packages.map(({ file, sha256 }) => `${file} ${sha256}`).sort();
  return createHash('sha256').update(JSON.stringify(files)).digest('hex');
}
