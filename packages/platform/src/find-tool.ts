/** Where the programs are that Gantry uses and npm does not carry. */
import fs from 'node:fs';
import path from 'node:path';

export interface Tool {
  /** Names of the executable, best first. */
  commands: string[];
  /** Debian packages that hold it, first the one that has the executable. */
  debian: string[];
  brew?: string;
  /** Prints its version and ends with 0: proves that its libraries are there. */
  probe: string[];
}

export const tools = {
  'nats-server': { commands: ['nats-server'], debian: ['nats-server'], brew: 'nats-server', probe: ['--version'] },
  nginx: { commands: ['nginx'], debian: ['nginx', 'nginx-common'], brew: 'nginx', probe: ['-v'] },
  bwrap: { commands: ['bwrap'], debian: ['bubblewrap'], probe: ['--version'] },
  chromium: {
    commands: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
    debian: ['chromium', 'chromium-common'],
    brew: 'chromium',
    probe: ['--version'],
  },
} satisfies Record<string, Tool>;

export type ToolName = keyof typeof tools;

/** An ordinary user's PATH often leaves these out, and daemons are installed there. */
const systemDirs = ['/usr/local/sbin', '/usr/sbin', '/sbin', '/usr/local/bin', '/usr/bin', '/opt/homebrew/bin'];

/** The executable on PATH or in a system directory; undefined if there is none. */
export function findTool(name: ToolName, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const dirs = [...(env.PATH ?? '').split(path.delimiter), ...(env.GANTRY_ONLY_PATH ? [] : systemDirs)].filter(Boolean);
  for (const command of tools[name].commands) {
    for (const dir of dirs) {
      const file = path.resolve(dir, command);
      if (isExecutable(file)) return file;
    }
  }
  return undefined;
}

function isExecutable(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}
