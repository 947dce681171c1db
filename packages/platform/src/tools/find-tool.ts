/** The programs that Gantry uses and npm does not carry, and where they are on this machine. */
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

interface Tool {
  /** Names of the executable, best first. */
  commands: string[];
  /** Its name in apt. */
  debian: string;
  /** Its name in Homebrew; absent where it has none. */
  brew?: string;
  /** Arguments that make it print its version and end with 0. */
  version: string[];
}

export type ToolName = 'nats-server' | 'nginx' | 'bwrap' | 'chromium' | 'pgbouncer' | 'promtool';

export const tools: Record<ToolName, Tool> = {
  'nats-server': { commands: ['nats-server'], debian: 'nats-server', brew: 'nats-server', version: ['--version'] },
  nginx: { commands: ['nginx'], debian: 'nginx', brew: 'nginx', version: ['-v'] },
  bwrap: { commands: ['bwrap'], debian: 'bubblewrap', version: ['--version'] },
  pgbouncer: { commands: ['pgbouncer'], debian: 'pgbouncer', brew: 'pgbouncer', version: ['--version'] },
  // Checks alert rules in tests.
  promtool: { commands: ['promtool'], debian: 'prometheus', brew: 'prometheus', version: ['--version'] },
  chromium: {
    // The headless shell draws the same pages with a third less CPU.
    commands: ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
    debian: 'chromium',
    brew: 'chromium',
    version: ['--version'],
  },
};

/** Daemons are installed in directories that an ordinary user's PATH leaves out. */
const systemDirs = ['/usr/local/sbin', '/usr/sbin', '/sbin', '/usr/local/bin', '/usr/bin', '/opt/homebrew/bin'];

export const searchPath = (): string[] => [
  ...(process.env.PATH ?? '').split(path.delimiter).filter(Boolean),
  ...systemDirs,
];

/** The first executable of the tool that lies in one of the directories. */
export function findTool(name: ToolName, dirs: string[] = searchPath()): string | undefined {
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

/** False for a file of another architecture, or one whose libraries are missing. */
export async function works(name: ToolName, file: string): Promise<boolean> {
  try {
    await run(file, tools[name].version, { timeout: 20_000 });
    return true;
  } catch {
    return false;
  }
}
