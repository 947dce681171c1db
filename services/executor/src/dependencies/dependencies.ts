/** Python dependencies: each set is resolved once and installed by pip inside a sandbox, wheels only. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { type EgressProxy, originOf } from '../egress/proxy';
import { ToolFailed, type ToolRunner } from '../sandbox/tool-run';
import type { DirectoryStore } from '../store/directory-store';
import type { PackageIndex } from './package-index';
import { explainPipFailure } from './pip-failure';

export const INSTALL_TIMEOUT_MS = 120_000;
const DOWNLOAD_BYTES_MAX = 2 * 2 ** 30;
const REQUIREMENTS_MAX = 100;
const PROGRESS_MS = 5_000;

export class DependencyError extends Error {}

export type Dependencies = ReturnType<typeof createDependencies>;

export function createDependencies(options: {
  store: DirectoryStore;
  runTool: ToolRunner;
  egress: EgressProxy;
  index: PackageIndex;
  pythonVersion: string;
  /** The directory that contains the package `pip`; null if this interpreter has none. */
  pipPath: string | null;
}) {
  const { store, runTool, egress, index, pythonVersion, pipPath } = options;
  const directories = index.findLinks.filter((place) => place.startsWith('/'));
  const urls = [index.indexUrl, ...index.extraIndexUrls, ...index.findLinks].filter((place) => place?.includes('://'));
  const origins = originsOf(urls as string[], index.fileHosts);

  async function install(requirements: string[], directory: string) {
    if (!pipPath) throw new DependencyError('This executor has no pip: install it for its interpreter (python3-pip).');
    const pass = origins.length ? egress.admit({ bytesMax: DOWNLOAD_BYTES_MAX, origins }) : undefined;
    try {
      const config = { tool: 'install', pipPath, requirements, options: pipOptions(index) };
      await runTool({
        config,
        workDir: directory,
        readOnly: directories,
        timeoutMs: INSTALL_TIMEOUT_MS,
        ...(pass && { egressNonce: pass.nonce }),
      });
    } catch (err) {
      if (!(err instanceof ToolFailed)) throw err;
      if (err.reason === 'timeout') {
        throw new DependencyError(
          `Installing ${requirements.join(', ')} took longer than ${INSTALL_TIMEOUT_MS / 1000} s.`,
        );
      }
      throw new DependencyError(await explainPipFailure(err.output, requirements, index));
    } finally {
      pass?.revoke();
    }
    const compile = {
      config: { tool: 'compile', as: '/deps' },
      workDir: directory,
      readOnly: [],
      timeoutMs: INSTALL_TIMEOUT_MS,
    };
    await runTool(compile).catch(() => {}); // without byte code, imports are only slower
  }

  return {
    /** Installs the set at `<store>/<digest>` if necessary; `say` receives lines for the run's log meanwhile. */
    async pin(asked: string[], say: (text: string) => void): Promise<{ digest: string; unpin(): void }> {
      const requirements = [...new Set(asked.map(parseRequirement))].sort();
      if (requirements.length > REQUIREMENTS_MAX)
        throw new DependencyError(`At most ${REQUIREMENTS_MAX} dependencies are allowed.`);
      const digest = createHash('sha256')
        .update(JSON.stringify([pythonVersion, requirements]))
        .digest('hex');
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

const VERSION = /(===|==|~=|!=|<=|>=|<|>)\s*[A-Za-z0-9.*+!_-]+/;
const REQUIREMENT = new RegExp(
  `^[A-Za-z0-9]+(?:[._-]+[A-Za-z0-9]+)*\\s*(?:\\[[A-Za-z0-9._, -]*\\]\\s*)?(?:${VERSION.source}\\s*(?:,\\s*${VERSION.source}\\s*)*)?(?:;[\\w\\s.<>=!"'()]+)?$`,
);

/** A name with versions (PEP 508); nothing that pip would read as an option, an address or a path. */
export function parseRequirement(text: string): string {
  const trimmed = text.trim();
  if (trimmed.length > 300 || !REQUIREMENT.test(trimmed)) {
    throw new DependencyError(
      `${JSON.stringify(text.slice(0, 100))} is not a dependency: write a package name with optional versions, such as "requests>=2.31,<3".`,
    );
  }
  return trimmed.replace(/\s+/g, ' ');
}

function pipOptions(index: PackageIndex): string[] {
  return [
    ...(index.indexUrl
      ? ['--index-url', index.indexUrl, '--cert', '/etc/ssl/certs/ca-certificates.crt']
      : ['--no-index']),
    ...index.extraIndexUrls.flatMap((url) => ['--extra-index-url', url]),
    ...index.findLinks
      .filter((place) => place.includes('://') || fs.existsSync(place))
      .flatMap((place) => ['--find-links', place]),
  ];
}

/** Each host with its own scheme and port, so that nothing else listening there is reachable. */
function originsOf(urls: string[], fileHosts: string[]): string[] {
  const places = [...urls, ...fileHosts.map((host) => (host.includes('://') ? host : `https://${host}`))];
  return [...new Set(places.map((place) => originOf(new URL(place))))];
}
