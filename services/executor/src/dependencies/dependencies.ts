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
  function identify(asked: string[]): { requirements: string[]; digest: string } {
    const requirements = [...new Set(asked.map(parseRequirement))].sort();
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
    async pin(asked: string[], say: (text: string) => void): Promise<{ digest: string; unpin(): void }> {
      const { requirements, digest } = identify(asked);
      const pinned = store.pin(digest, (directory) => install(requirements, directory));
      if (pinned) await told(pinned, say);
      return { digest, unpin: () => store.unpin(digest) };
    },
  };
}

async function told(installed: Promise<void>, say: (text: string) => void): Promise<void> {
  const began = performance.now();
  const seconds = () => `${((performance.now() - began) / 1000).toFixed(1)} s`;
  say('Installing dependencies...');
  const timer = setInterval(() => say(`Installing dependencies... ${seconds()}`), PROGRESS_MS);
  try {
    await installed;
  } finally {
    clearInterval(timer);
  }
  say(`Dependencies installed in ${seconds()}.`);
}
