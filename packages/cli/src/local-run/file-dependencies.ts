/** Packages that a file of the code declares, read like on the platform where worker.yaml has no list. */
import { spawn } from 'node:child_process';
import { text as readText } from 'node:stream/consumers';
import { findFileDependencies, type TomlDependencies, type TomlText } from '@gantry/python-dependencies';
import { CommandError, EXIT } from '../errors';
import type { Interpreter } from './interpreter';
import type { LocalProgram } from './local-program';

const INSPECT_SCRIPT = `
import json, sys
sys.path.insert(0, sys.argv[1])
from _gantry.inspection import inspect_toml
print(json.dumps(inspect_toml(sys.argv[2], sys.stdin.read())))
`;

/** @throws CommandError naming each file, and line where it is known, of what the platform refuses too */
export async function readFileDependencies(
  python: Interpreter,
  harnessDir: string,
  { files, entrypoint }: Pick<LocalProgram, 'files' | 'entrypoint'>,
): Promise<string[]> {
  const reading = await findFileDependencies(entrypoint, files, (toml) => inspectToml(python, harnessDir, toml));
  if (!('problems' in reading)) return reading.found?.packages ?? [];
  const problems = reading.problems.map(
    ({ path, line, message }) => `${path}${line === null ? '' : `:${line}`}: ${message}`,
  );
  throw new CommandError(problems.join('\n'), EXIT.failed);
}

async function inspectToml(
  python: Interpreter,
  harnessDir: string,
  { kind, text }: TomlText,
): Promise<TomlDependencies> {
  const child = spawn(python.executable, ['-I', '-c', INSPECT_SCRIPT, harnessDir, kind], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  // Python may exit before it has read everything, or may not start: then there is no output.
  child.on('error', () => {});
  child.stdin.on('error', () => {});
  child.stdin.end(text);
  const output = await readText(child.stdout);
  return output ? JSON.parse(output) : { problem: `${python.executable} could not read it`, line: null };
}
