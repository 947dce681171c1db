/** Packages that a file of the code declares, read like on the platform where worker.yaml has no list. */
import { spawn } from 'node:child_process';
import { text as readText } from 'node:stream/consumers';
import { CommandError, EXIT } from '../errors';
import type { Interpreter } from './interpreter';
import type { LocalProgram } from './local-program';

const REQUIREMENTS = 'requirements.txt';
const PROJECT = 'pyproject.toml';
const INSPECT_SCRIPT = `
import json, sys
sys.path.insert(0, sys.argv[1])
from _gantry.inspection import inspect_toml
print(json.dumps(inspect_toml(sys.argv[2], sys.stdin.read())))
`;

interface TomlSource {
  text: string;
  /** Line of the file in which the text begins. */
  firstLine: number;
  kind: 'script' | 'project';
  file: string;
}

type TomlReading = { dependencies: string[] | null } | { problem: string; line: number | null };

/** @throws CommandError naming the file, and the line where it is known, of what the platform refuses too */
export async function readFileDependencies(
  python: Interpreter,
  harnessDir: string,
  { files, entrypoint }: Pick<LocalProgram, 'files' | 'entrypoint'>,
): Promise<string[]> {
  const find = (name: string) => files.find((file) => file.path === name)?.content.toString();
  const script = findScriptBlock(find(entrypoint) ?? '');
  const scriptPackages =
    script === null ? null : await readToml(python, harnessDir, { ...script, kind: 'script', file: entrypoint });
  if (scriptPackages) return scriptPackages;
  const requirements = find(REQUIREMENTS);
  if (requirements !== undefined) return parseRequirements(requirements);
  const project = find(PROJECT);
  if (project === undefined) return [];
  const toml: TomlSource = { text: project, firstLine: 1, kind: 'project', file: PROJECT };
  return (await readToml(python, harnessDir, toml)) ?? [];
}

/** Finds the lines of a `# /// script` block (PEP 723). */
function findScriptBlock(source: string): Pick<TomlSource, 'text' | 'firstLine'> | null {
  const lines = source.split(/\r?\n/);
  const start = lines.indexOf('# /// script');
  if (start < 0) return null;
  const inner = lines.slice(start + 1);
  const length = inner.findIndex((line) => line !== '#' && !line.startsWith('# '));
  const comments = length < 0 ? inner : inner.slice(0, length);
  const end = comments.lastIndexOf('# ///');
  if (end < 0) return null;
  const text = comments.slice(0, end).map((line) => line.slice(2));
  return { text: text.join('\n'), firstLine: start + 2 };
}

async function readToml(
  python: Interpreter,
  harnessDir: string,
  { text, firstLine, kind, file }: TomlSource,
): Promise<string[] | null> {
  const child = spawn(python.executable, ['-I', '-c', INSPECT_SCRIPT, harnessDir, kind], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  // Python may exit before it has read everything, or may not start: then there is no output.
  child.on('error', () => {});
  child.stdin.on('error', () => {});
  child.stdin.end(text);
  const output = await readText(child.stdout);
  if (!output) throw new CommandError(`${file}: ${python.executable} could not read it`, EXIT.failed);
  const reading = JSON.parse(output) as TomlReading;
  if ('problem' in reading) {
    const { problem, line } = reading;
    throw new CommandError(`${file}${line === null ? '' : `:${line + firstLine - 1}`}: ${problem}`, EXIT.failed);
  }
  for (const one of reading.dependencies ?? []) assertPackage(one, file);
  return reading.dependencies;
}

function parseRequirements(content: string): string[] {
  return content
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .flatMap((line, index) => {
      // A comment begins at the start of the line or after a space, as for pip.
      const comment = line.search(/(?:^|[ \t])#/);
      const requirement = (comment < 0 ? line : line.slice(0, comment)).trim();
      if (!requirement) return [];
      assertPackage(requirement, `${REQUIREMENTS}:${index + 1}`);
      return [requirement];
    });
}

function assertPackage(requirement: string, place: string): void {
  if (/^[A-Za-z0-9]/.test(requirement) && !/--hash|;|\\$|:\/\//.test(requirement)) return;
  throw new CommandError(
    `${place}: "${requirement}" is not the name of a package with versions`,
    EXIT.failed,
    'Options, addresses, conditions and hashes are refused on the platform too',
  );
}
