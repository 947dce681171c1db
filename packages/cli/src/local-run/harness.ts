/**
 * The harness of the sandbox and its driver, which the build puts into this program, as files that Python can import.
 */
import fs from 'node:fs';
import path from 'node:path';
import { createTemporaryDir } from '../temporary-dir';

/** @returns the folder, which the caller deletes */
export function writeHarness(): string {
  const files = JSON.parse(process.env.GANTRY_PYTHON_HARNESS ?? '{}') as Record<string, string>;
  return writeTemporaryFiles(
    'gantry-harness-',
    Object.entries(files).map(([name, content]) => ({ path: name, content: Buffer.from(content) })),
  );
}

/** @returns a new folder with these files, which the caller deletes */
export function writeTemporaryFiles(prefix: string, files: { path: string; content: Buffer }[]): string {
  const dir = createTemporaryDir(prefix);
  for (const { path: name, content } of files) {
    const file = path.join(dir, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, content);
  }
  return dir;
}
