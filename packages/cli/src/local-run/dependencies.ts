/** Packages of a worker, installed once for each set and version of Python. */
import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import envPaths from 'env-paths';
import { CommandError, EXIT } from '../errors';
import type { Interpreter } from './interpreter';

const TIMEOUT_MS = 10 * 60_000;

/** @returns the folder with the packages; null: none are declared. @throws CommandError with what pip says */
export async function installDependencies(
  python: Interpreter,
  declared: string[],
  onInstall: () => void,
): Promise<string | null> {
  if (!declared.length) return null;
  const option = declared.find((one) => !/^[A-Za-z0-9]/.test(one.trim()));
  if (option !== undefined) throw new CommandError(`python_dependencies: ${option} is not a package`, EXIT.failed);
  const digest = createHash('sha256')
    .update(JSON.stringify([python.version, [...declared].sort()]))
    .digest('hex');
  const target = path.join(envPaths('gantry', { suffix: '' }).cache, 'python', digest);
  if (fs.existsSync(target)) return target;
  onInstall();
  // Moved when it is complete: an installation that was interrupted is none.
  const temporary = `${target}.${randomUUID()}`;
  const args = [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '--no-input',
    '--only-binary',
    ':all:',
  ];
  try {
    await promisify(execFile)(python.executable, [...args, '--target', temporary, '--', ...declared], {
      timeout: TIMEOUT_MS,
      maxBuffer: 16 * 1024 * 1024,
    });
    fs.renameSync(temporary, target);
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    const reason = stderr.split('\n').find((line) => line.startsWith('ERROR:')) ?? (error as Error).message;
    throw new CommandError(
      `${declared.join(', ')} cannot be installed: ${reason.replace(/^ERROR: /, '')}`,
      EXIT.failed,
      `To reproduce it: ${python.executable} -m pip download --only-binary :all: ${declared.map((one) => `'${one}'`).join(' ')}`,
    );
  } finally {
    fs.rmSync(temporary, { recursive: true, force: true });
  }
  return target;
}
