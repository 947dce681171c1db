/** A package of the system and what it needs, unpacked into a directory of ours: `apt-get download`, `dpkg -x`. */
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const execFileAsync = promisify(execFile);

/** These belong to the running system; a second copy beside its dynamic loader would crash every program. */
const EXCLUDED_PACKAGES = /^(libc6|libc-bin|base-files|dpkg|debconf)$/;

export interface DebianPackage {
  name: string;
  into: string;
  /** Environment of apt-get and dpkg. */
  env: NodeJS.ProcessEnv;
  /** Directory for package lists of our own. */
  aptDir: string;
}

/** @throws Error with what apt-get or dpkg printed in `stderr` */
export async function unpackDebianPackage(debianPackage: DebianPackage): Promise<void> {
  const debs = path.join(debianPackage.into, 'debs');
  fs.mkdirSync(debs, { mode: 0o755 });
  await download(debianPackage, debs);
  for (const deb of fs.readdirSync(debs)) await execFileAsync('dpkg', ['-x', path.join(debs, deb), debianPackage.into]);
  fs.rmSync(debs, { recursive: true });
}

/** Tries with the system's package lists and, if these are missing or old, with fresh ones of our own. */
async function download(requested: DebianPackage, debs: string): Promise<void> {
  const { aptDir, env } = requested;
  const asMyself = ['-q', '-o', 'APT::Sandbox::User=root', '-o', 'Debug::NoLocking=1'];
  try {
    await downloadWithDependencies(requested, debs, asMyself);
  } catch {
    fs.mkdirSync(path.join(aptDir, 'lists/partial'), { recursive: true });
    fs.mkdirSync(path.join(aptDir, 'cache/archives/partial'), { recursive: true });
    const own = [...asMyself, '-o', `Dir::State::Lists=${aptDir}/lists`, '-o', `Dir::Cache=${aptDir}/cache`];
    await execFileAsync('apt-get', [...own, 'update'], { env, timeout: 120_000 });
    await downloadWithDependencies(requested, debs, own);
  }
}

async function downloadWithDependencies(requested: DebianPackage, debs: string, aptOptions: string[]): Promise<void> {
  const { name, env } = requested;
  // A machine whose packages are in disorder has no plan; the package alone is then often enough.
  const missing = await listMissingPackages(requested, aptOptions).catch(() => []);
  const names = [...new Set([name, ...missing])];
  await execFileAsync('apt-get', [...aptOptions, 'download', ...names], { env, cwd: debs, timeout: 300_000 });
}

/**
 * Names of the packages that an installation would bring, from lines of
 * "'<address>' <name>_<version>_<arch>.deb <size> <digest>".
 */
async function listMissingPackages({ name, env }: DebianPackage, aptOptions: string[]): Promise<string[]> {
  const plan = ['-y', '--no-install-recommends', '--print-uris', 'install', name];
  const { stdout } = await execFileAsync('apt-get', [...aptOptions, ...plan], { env, maxBuffer: 16 << 20 });
  const names = [...stdout.matchAll(/^'[^']+' ([^_\s]+)_\S+\.deb /gm)].map((match) => match[1] as string);
  return names.filter((found) => !EXCLUDED_PACKAGES.test(found));
}
