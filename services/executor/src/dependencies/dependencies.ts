/**
 * Provides Python dependencies: each set is resolved once, and assembled from wheels that are installed once. A version
 * keeps the packages that its first run was installed with: its lock (ADR 65).
 *
 * A resolved set is named by its requirements, and contains the list of its packages. A set of locked packages is named
 * by the digest of the lock. The resolved one is used instead if it has the same packages, so that agreeing on a lock
 * installs and imports nothing again.
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { LockedPackage } from '@gantry/events';
import { createDependencySetInstaller, type DependencyOptions, type OnProgress } from './install-set';
import { DependencyError, parseRequirement } from './requirement';

const REQUIREMENTS_MAX = 100;
const PROGRESS_MS = 5_000;
/** In the directory of a resolved set. It is created before any wheel is linked, which replaces no existing file. */
const PACKAGES = '.gantry-packages.json';
/** These change with the format of the stored sets. */
const RESOLVED = 'resolved 1';
const LOCKED = 'locked 1';

export type Dependencies = ReturnType<typeof createDependencies>;

/** @param proposed what was resolved; null only reads. @returns the lock of the version; null: there is none */
export type NegotiateLock = (platform: string, proposed: LockedPackage[] | null) => Promise<LockedPackage[] | null>;

export interface LockAccess {
  /** Digests of the lock by platform, as far as they are known. */
  digests: Record<string, string>;
  agree: NegotiateLock;
}

/** Receives lines for the log of a run, and counts. */
interface InstallObserver {
  log: (text: string) => void;
  onProgress: OnProgress;
}

interface PinnedSet {
  digest: string;
  unpin(): void;
}

export function createDependencies(
  options: DependencyOptions & { computeLockDigest: (packages: LockedPackage[]) => string },
) {
  const { store, pythonVersion, computeLockDigest } = options;
  const install = createDependencySetInstaller(options);
  const [major, minor] = pythonVersion.split('.');
  const platform = `cp${major}${minor}-${process.platform}-${process.arch}`;
  const toKey = (...parts: unknown[]) =>
    createHash('sha256')
      .update(JSON.stringify([...parts, pythonVersion]))
      .digest('hex');

  /** @throws DependencyError */
  function parseRequirements(requested: string[]): { requirements: string[]; resolvedKey: string } {
    const requirements = [...new Set(requested.map(parseRequirement))].sort();
    if (requirements.length > REQUIREMENTS_MAX)
      throw new DependencyError(`At most ${REQUIREMENTS_MAX} dependencies are allowed.`);
    return { requirements, resolvedKey: toKey(RESOLVED, requirements) };
  }

  const readPackages = (resolvedKey: string): LockedPackage[] =>
    JSON.parse(fs.readFileSync(path.join(store.directory, resolvedKey, PACKAGES), 'utf8'));

  async function installResolved(requirements: string[], directory: string, onProgress: OnProgress): Promise<void> {
    const file = path.join(directory, PACKAGES);
    fs.writeFileSync(file, '', { flag: 'wx' });
    fs.writeFileSync(file, JSON.stringify(await install({ requirements }, directory, onProgress)));
  }

  /** Names the set with these packages. */
  function selectKey(resolvedKey: string, lockDigest: string): string {
    const isResolved = store.has(resolvedKey) && computeLockDigest(readPackages(resolvedKey)) === lockDigest;
    return isResolved ? resolvedKey : toKey(LOCKED, lockDigest);
  }

  async function pinSet(
    key: string,
    { log }: InstallObserver,
    create: (directory: string) => Promise<unknown>,
  ): Promise<PinnedSet> {
    const installation = store.pin(key, async (directory) => void (await create(directory)));
    if (installation) await logProgress(installation, log);
    return toPinnedSet(key);
  }

  const toPinnedSet = (digest: string): PinnedSet => ({ digest, unpin: () => store.unpin(digest) });

  /** Pins a set that is installed; undefined: it is not. */
  function pinIfStored(digest: string): PinnedSet | undefined {
    if (!store.has(digest)) return undefined;
    void store.pin(digest, () => Promise.reject(new Error('a stored dependency set is missing')));
    return toPinnedSet(digest);
  }

  const pinLocked = (resolvedKey: string, locked: LockedPackage[], observer: InstallObserver) =>
    pinSet(selectKey(resolvedKey, computeLockDigest(locked)), observer, (directory) =>
      install({ locked }, directory, observer.onProgress),
    );

  async function pinKnownLock(
    resolvedKey: string,
    lockDigest: string,
    negotiateLock: NegotiateLock,
    observer: InstallObserver,
  ) {
    const key = selectKey(resolvedKey, lockDigest);
    const stored = pinIfStored(key);
    if (stored) return stored;
    const locked = await negotiateLock(platform, null);
    if (!locked) throw new Error('an existing dependency lock cannot be read');
    return pinLocked(resolvedKey, locked, observer);
  }

  /** Proposes what was resolved here, and installs what another executor has proposed before. */
  async function negotiateResolvedLock(
    resolved: PinnedSet,
    negotiateLock: NegotiateLock,
    observer: InstallObserver,
  ): Promise<PinnedSet> {
    try {
      const proposed = readPackages(resolved.digest);
      const locked = (await negotiateLock(platform, proposed)) ?? proposed;
      if (computeLockDigest(locked) === computeLockDigest(proposed)) return resolved;
      const other = await pinLocked(resolved.digest, locked, observer);
      resolved.unpin();
      return other;
    } catch (err) {
      resolved.unpin();
      throw err;
    }
  }

  return {
    /** Names the set of a request without installing it. @throws DependencyError */
    getSetKey(requested: string[], lockDigests: Record<string, string> = {}): string {
      const { resolvedKey } = parseRequirements(requested);
      const lockDigest = lockDigests[platform];
      return lockDigest === undefined ? resolvedKey : selectKey(resolvedKey, lockDigest);
    },

    pinStored: pinIfStored,

    platform,

    /** Reads the packages of a resolved set. */
    readPackages,

    /** Builds access to the locks of an announcement, for which no service can be asked. */
    toLockAccess(locks: Record<string, LockedPackage[]> = {}): LockAccess {
      const digests = Object.entries(locks).map(([name, packages]) => [name, computeLockDigest(packages)]);
      return { digests: Object.fromEntries(digests), agree: async (name) => locks[name] ?? null };
    },

    /**
     * Installs the set at `<store>/<digest>` if necessary; `log` receives lines for the run's log meanwhile.
     * @param lock absent: the packages are not locked
     * @throws DependencyError
     */
    async pin(
      requested: string[],
      log: (text: string) => void,
      lock?: LockAccess,
      onProgress: OnProgress = () => {},
    ): Promise<PinnedSet> {
      const observer = { log, onProgress };
      const { requirements, resolvedKey } = parseRequirements(requested);
      const lockDigest = lock?.digests[platform];
      if (lock && lockDigest !== undefined) return pinKnownLock(resolvedKey, lockDigest, lock.agree, observer);
      const resolved = await pinSet(resolvedKey, observer, (directory) =>
        installResolved(requirements, directory, onProgress),
      );
      return lock ? negotiateResolvedLock(resolved, lock.agree, observer) : resolved;
    },
  };
}

async function logProgress(installation: Promise<void>, log: (text: string) => void): Promise<void> {
  const startedAt = performance.now();
  const formatElapsed = () => `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
  log('Installing dependencies...');
  const timer = setInterval(() => log(`Installing dependencies... ${formatElapsed()}`), PROGRESS_MS);
  try {
    await installation;
  } finally {
    clearInterval(timer);
  }
  log(`Dependencies installed in ${formatElapsed()}.`);
}
