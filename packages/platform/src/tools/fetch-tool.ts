/**
 * Gets a program from the system's own packages without installing anything and without root: `apt-get download`,
 * `dpkg -x` into a directory of ours.
 */
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { toolsDir } from '../dirs/shared-dir';
import { findTool, type ToolName, tools, works } from './find-tool';

const run = promisify(execFile);

/** Directories of executables below an unpacked package; a wrapper that we wrote comes first. */
const binDirs = ['gantry-bin', 'usr/sbin', 'usr/bin', 'sbin', 'bin'];
/** These belong to the running system; a second copy beside its dynamic loader would crash every program. */
const neverFetched = /^(libc6|libc-bin|base-files|dpkg|debconf)$/;

export interface ObtainOptions {
  /** Default: the tools directory of this checkout. */
  dir?: string;
  /** Directories to search before fetching; default PATH and the system's directories. */
  path?: string[];
  /** Environment of apt-get and dpkg; default ours. */
  env?: NodeJS.ProcessEnv;
  /** Called before a step that takes time. */
  onStep?: (text: string) => void;
}

/**
 * The executable of a tool that works: the machine's own, else one fetched before, else fetched now.
 * @throws Error that names the command which installs it.
 */
export async function obtainTool(name: ToolName, options: ObtainOptions = {}): Promise<string> {
  const installed = findTool(name, options.path);
  if (installed && (await works(name, installed))) return installed;
  const dir = path.join(options.dir ?? toolsDir(), name);
  const kept = findFetched(name, dir);
  if (kept && (await works(name, kept))) return kept;
  try {
    options.onStep?.(`fetching ${name} from the system's packages`);
    return await fetchTool(name, dir, options.env ?? process.env);
  } catch (cause) {
    throw new Error(`${name} is needed and was not found. Get it with: ${installCommand(name)}`, { cause });
  }
}

export function installCommand(name: ToolName): string {
  const { debian, brew } = tools[name];
  if (process.platform !== 'darwin') return `sudo apt-get install ${debian} (or your system's package of that name)`;
  return brew ? `brew install ${brew}` : `a Linux machine: ${name} does not exist for macOS`;
}

const findFetched = (name: ToolName, dir: string) =>
  findTool(
    name,
    binDirs.map((bin) => path.join(dir, bin)),
  );

async function fetchTool(name: ToolName, dir: string, env: NodeJS.ProcessEnv): Promise<string> {
  const partial = `${dir}.${process.pid}`;
  const debs = path.join(partial, 'debs');
  fs.mkdirSync(debs, { recursive: true, mode: 0o755 });
  try {
    await download({ name: tools[name].debian, into: debs, env }, path.join(path.dirname(dir), 'apt'));
    for (const deb of fs.readdirSync(debs)) await run('dpkg', ['-x', path.join(debs, deb), partial]);
    fs.rmSync(debs, { recursive: true });
    const file = findFetched(name, partial);
    if (!file) throw new Error(`the package ${tools[name].debian} holds no ${tools[name].commands[0]}`);
    if (!(await works(name, file))) writeWrapper(partial, dir, file);
    fs.rmSync(dir, { recursive: true, force: true });
    fs.renameSync(partial, dir);
  } finally {
    fs.rmSync(partial, { recursive: true, force: true });
  }
  const fetched = findFetched(name, dir);
  if (!fetched || !(await works(name, fetched))) throw new Error(`the fetched ${name} does not start`);
  return fetched;
}

interface Download {
  name: string;
  into: string;
  env: NodeJS.ProcessEnv;
}

/** Tries with the system's package lists and, if these are missing or old, with fresh ones of our own. */
async function download(wanted: Download, aptDir: string): Promise<void> {
  const asMyself = ['-q', '-o', 'APT::Sandbox::User=root', '-o', 'Debug::NoLocking=1'];
  try {
    await downloadWithDependencies(wanted, asMyself);
  } catch {
    fs.mkdirSync(path.join(aptDir, 'lists/partial'), { recursive: true });
    fs.mkdirSync(path.join(aptDir, 'cache/archives/partial'), { recursive: true });
    const own = [...asMyself, '-o', `Dir::State::Lists=${aptDir}/lists`, '-o', `Dir::Cache=${aptDir}/cache`];
    await run('apt-get', [...own, 'update'], { env: wanted.env, timeout: 120_000 });
    await downloadWithDependencies(wanted, own);
  }
}

async function downloadWithDependencies(wanted: Download, aptOptions: string[]): Promise<void> {
  const { name, into, env } = wanted;
  // A machine whose packages are in disorder has no plan; the package alone is then often enough.
  const missing = await missingPackages(wanted, aptOptions).catch(() => []);
  const names = [...new Set([name, ...missing])];
  await run('apt-get', [...aptOptions, 'download', ...names], { env, cwd: into, timeout: 300_000 });
}

/**
 * Names of the packages that an installation would bring, from lines of
 * "'<address>' <name>_<version>_<arch>.deb <size> <digest>".
 */
async function missingPackages({ name, env }: Download, aptOptions: string[]): Promise<string[]> {
  const plan = ['-y', '--no-install-recommends', '--print-uris', 'install', name];
  const { stdout } = await run('apt-get', [...aptOptions, ...plan], { env, maxBuffer: 16 << 20 });
  const names = [...stdout.matchAll(/^'[^']+' ([^_\s]+)_\S+\.deb /gm)].map((match) => match[1] as string);
  return names.filter((found) => !neverFetched.test(found));
}

/**
 * Runs the program with the libraries that were fetched with it. The dynamic loader is named outright where possible: an
 * LD_LIBRARY_PATH would be inherited by everything that the program starts.
 */
function writeWrapper(partial: string, dir: string, file: string): void {
  const libraries = ['usr/lib', 'lib']
    .flatMap((lib) => [lib, ...subdirs(path.join(partial, lib)).map((sub) => path.join(lib, sub))])
    .map((lib) => path.join(dir, lib))
    .join(':');
  const program = path.join(dir, path.relative(partial, realProgram(partial, file)));
  const loader = ['/lib64/ld-linux-x86-64.so.2', '/lib/ld-linux-aarch64.so.1'].find((candidate) =>
    fs.existsSync(candidate),
  );
  // Chromium starts itself again through /proc/self/exe, which would be the loader.
  const command =
    loader && path.basename(program) !== 'chromium'
      ? `exec ${loader} --library-path ${quoted(libraries)} ${quoted(program)} "$@"`
      : `LD_LIBRARY_PATH=${quoted(libraries)} exec ${quoted(program)} "$@"`;
  const wrapper = path.join(partial, 'gantry-bin', path.basename(file));
  fs.mkdirSync(path.dirname(wrapper), { recursive: true, mode: 0o755 });
  fs.writeFileSync(wrapper, `#!/bin/sh\n${command}\n`, { mode: 0o755 });
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Debian's chromium in usr/bin is a script that looks for the program at its installed place. */
function realProgram(partial: string, file: string): string {
  const program = path.join(partial, 'usr/lib', path.basename(file), path.basename(file));
  return fs.existsSync(program) ? program : file;
}

function subdirs(dir: string): string[] {
  if (!fs.existsSync(dir)) return [];
  return fs.readdirSync(dir, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
}
