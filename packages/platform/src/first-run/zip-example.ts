import fs from 'node:fs';
import path from 'node:path';
import { writeZip } from '@gantry/archive';

export interface ZippedExample {
  manifest: Record<string, unknown>;
  entrypoint: string;
  inputs: Record<string, unknown>;
  zip: Buffer;
}

/** Belongs to the example as a lesson, not to the code that runs. */
const excludedFiles = new Set(['manifest.json', 'inputs.json', 'README.md', '__pycache__']);

/**
 * @param dir a folder of `examples/`: `manifest.json`, `main.py` and what that needs, `inputs.json` for a first run.
 */
export async function zipExample(dir: string): Promise<ZippedExample> {
  return {
    manifest: readJson(dir, 'manifest.json'),
    entrypoint: 'main.py',
    inputs: readExampleInputs(dir),
    zip: await zipFolder(dir),
  };
}

/** @param dir a folder of `examples/workers/`: `worker.yaml`, code, `inputs.json` for a first run. */
export async function zipExampleWorker(dir: string): Promise<Pick<ZippedExample, 'inputs' | 'zip'>> {
  return { inputs: readExampleInputs(dir), zip: await zipFolder(dir) };
}

const readJson = (dir: string, name: string) => JSON.parse(fs.readFileSync(path.join(dir, name), 'utf8'));

const readExampleInputs = (dir: string) =>
  fs.existsSync(path.join(dir, 'inputs.json')) ? readJson(dir, 'inputs.json') : {};

const zipFolder = (dir: string): Promise<Buffer> =>
  writeZip(
    listFilesBelow(dir).map((file) => ({
      path: file.split(path.sep).join('/'),
      content: fs.readFileSync(path.join(dir, file)),
    })),
  );

function listFilesBelow(dir: string, prefix = ''): string[] {
  return fs
    .readdirSync(path.join(dir, prefix), { withFileTypes: true })
    .filter((entry) => !excludedFiles.has(entry.name))
    .flatMap((entry) => {
      const name = path.join(prefix, entry.name);
      return entry.isDirectory() ? listFilesBelow(dir, name) : [name];
    });
}
