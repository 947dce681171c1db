/** Provides Python dependencies: each set is resolved once, and assembled from wheels that are installed once. */
import { createHash } from 'node:crypto';
import { createSetInstaller, type DependencyOptions } from './install-set';
import { DependencyError, parseRequirement } from './requirement';

const REQUIREMENTS_MAX = 100;
const PROGRESS_MS = 5_000;

export type Dependencies = ReturnType<typeof createDependencies>;

export function createDependencies(options: DependencyOptions) {
  const { store, pythonVersion } = options;
  const install = createSetInstaller(options);

  /** @throws DependencyError */
  function identify(requested: string[]): { requirements: string[]; digest: string } {
    const requirements = [...new Set(requested.map(parseRequirement))].sort();
    if (requirements.length > REQUIREMENTS_MAX)
      throw new DependencyError(`At most ${REQUIREMENTS_MAX} dependencies are allowed.`);
    const digest = createHash('sha256')
      .update(JSON.stringify([pythonVersion, requirements]))
      .digest('hex');
    return { requirements, digest };
  }

  return {
    identify,
    /** Installs the set at `<store>/<digest>` if necessary; `log` receives lines for the run's log meanwhile. */
    async pin(requested: string[], log: (text: string) => void): Promise<{ digest: string; unpin(): void }> {
      const { requirements, digest } = identify(requested);
      const pinned = store.pin(digest, (directory) => install(requirements, directory));
      if (pinned) await logProgress(pinned, log);
      return { digest, unpin: () => store.unpin(digest) };
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
