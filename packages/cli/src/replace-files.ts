/** Writes what the server has to a folder of a person. */
import fs from 'node:fs';
import path from 'node:path';
import { CommandError } from './errors';
import type { Worker } from './remote-worker';
import type { Session } from './session';
import { formatCount, joinLines, red, text, yellow } from './text';
import { compareSettings } from './worker-diff';
import { type LocalFile, parseManifest } from './worker-folder';

/** A manifest that says the same stays as it is written, with its comments. */
export async function mergeLocalManifest(dir: string, worker: Worker, files: LocalFile[]): Promise<LocalFile[]> {
  const file = path.join(dir, 'worker.yaml');
  const exported = files.find(({ path: name }) => name === 'worker.yaml');
  if (!exported || !fs.existsSync(file)) return files;
  const content = fs.readFileSync(file);
  const parse = (text: Buffer) => parseManifest('worker.yaml', text.toString());
  const isSameManifest = await Promise.all([parse(exported.content), parse(content)]).then(
    ([exported, manifest]) => !compareSettings({ worker: { ...worker }, exported, manifest, isDeployed: false }).length,
    // One that cannot be read is replaced like any other file.
    () => false,
  );
  return isSameManifest ? files.map((one) => (one === exported ? { ...one, content } : one)) : files;
}

/**
 * Makes a folder hold these files, and asks before anything is lost.
 * @param existingPaths paths of files in the folder that are deleted unless they are among the files
 */
export async function replaceFiles(
  { output, prompts }: Session,
  dir: string,
  files: LocalFile[],
  existingPaths: string[],
): Promise<{ overwritten: string[]; deleted: string[] }> {
  const names = new Set(files.map(({ path: name }) => name));
  const overwritten = files.flatMap(({ path: name, content }) => {
    const file = path.join(dir, name);
    return fs.existsSync(file) && !content.equals(fs.readFileSync(file)) ? [name] : [];
  });
  const deleted = existingPaths.filter((name) => !names.has(name));
  const lost = overwritten.length + deleted.length;
  if (lost) {
    output.note(
      joinLines([
        ...overwritten.map((name) => text`${yellow('overwrites')} ${name}`),
        ...deleted.map((name) => text`${red('deletes')} ${name}`),
      ]),
    );
    await prompts.confirm(`Overwrite or delete ${formatCount(lost, 'file')} in ${path.resolve(dir)}?`);
  }
  for (const name of deleted) fs.rmSync(path.join(dir, name));
  for (const file of files) writeFile(dir, file);
  return { overwritten, deleted };
}

/** @throws CommandError where a link would lead out of the folder */
function writeFile(dir: string, { path: name, content }: LocalFile): void {
  const file = path.join(dir, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const parent = fs.realpathSync(path.dirname(file));
  const root = fs.realpathSync(dir);
  if (parent !== root && !parent.startsWith(root + path.sep)) throw new CommandError(`${name} is outside ${root}`);
  fs.rmSync(file, { force: true });
  fs.writeFileSync(file, content);
}
