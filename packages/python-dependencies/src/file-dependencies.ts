/**
 * Finds the packages that a program's own files declare: a `# /// script` block (PEP 723) in the entrypoint, else
 * requirements.txt, else pyproject.toml. The first one that has a list counts, and the others are not read.
 *
 * The files are as untrusted as `python_dependencies`, and each package obeys the same rules.
 */

import { DEPENDENCIES_MAX, type DeclaredDependency, parseDependency } from './declared-dependency';

const REQUIREMENTS = 'requirements.txt';
const PROJECT = 'pyproject.toml';
/** Limit of requirements.txt, and of a TOML document as JSON, since that travels in a message. */
const BYTES_MAX = 64 * 1024;
const QUOTED_CHARS_MAX = 100;
const PROBLEMS_MAX = 20;

export interface FileDependencies {
  /** Path of the file that declares them. */
  source: string;
  packages: string[];
}

export interface DependencyProblem {
  path: string;
  line: number | null;
  message: string;
}

export interface TomlText {
  kind: 'script' | 'project';
  text: string;
}

/** The packages that a TOML document lists, null if it has no such list, or the reason for refusing it. */
export type TomlDependencies = { dependencies: string[] | null } | { problem: string; line: number | null };

/** Parses TOML outside this process, by Python, since the text is untrusted. */
export type InspectToml = (toml: TomlText) => Promise<TomlDependencies>;

export type DependencyResult = { found: FileDependencies | null } | { problems: DependencyProblem[] };

export interface ProgramFile {
  path: string;
  content: Buffer;
}

export async function findFileDependencies(
  entrypoint: string,
  files: readonly ProgramFile[],
  inspectToml: InspectToml,
): Promise<DependencyResult> {
  const find = (path: string) => files.find((file) => file.path === path)?.content;
  const script = entrypoint.endsWith('.py') ? find(entrypoint) : undefined;
  const block = script && findScriptBlock(script.toString());
  if (block) {
    const read = await readToml(inspectToml, { ...block, kind: 'script', path: entrypoint });
    if ('problems' in read || read.found) return read;
  }
  const requirements = find(REQUIREMENTS);
  if (requirements) return readRequirements(requirements);
  const project = find(PROJECT);
  if (!project) return { found: null };
  return readToml(inspectToml, { text: project.toString(), firstLine: 1, kind: 'project', path: PROJECT });
}

interface TomlSource extends TomlText {
  path: string;
  /** Line of the file in which the text begins. */
  firstLine: number;
}

/** Finds the block by the lines that PEP 723 defines; null: there is none, or it does not end. */
function findScriptBlock(source: string): { text: string; firstLine: number } | null {
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
  inspectToml: InspectToml,
  { kind, path, text, firstLine }: TomlSource,
): Promise<DependencyResult> {
  if (Buffer.byteLength(JSON.stringify(text)) > BYTES_MAX) return { problems: [toTooLargeProblem(path)] };
  const reply = await inspectToml({ kind, text });
  if ('problem' in reply) {
    const line = reply.line === null ? null : reply.line + firstLine - 1;
    return { problems: [{ path, line, message: reply.problem }] };
  }
  if (!reply.dependencies) return { found: null };
  const lines = text.split('\n');
  const findLine = (name: string) => {
    // Bounded: PROBLEMS_MAX searches in BYTES_MAX.
    const index = lines.findIndex((line) => line.includes(name));
    return index < 0 ? null : index + firstLine;
  };
  return toDependencyResult(
    path,
    reply.dependencies.map((name) => ({ text: name, getLine: () => findLine(name) })),
  );
}

function readRequirements(content: Buffer): DependencyResult {
  if (content.length > BYTES_MAX) return { problems: [toTooLargeProblem(REQUIREMENTS)] };
  const lines = content
    .toString()
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/);
  const listed = lines.flatMap((line, index) => {
    const text = removeComment(line).trim();
    return text ? [{ text, getLine: () => index + 1 }] : [];
  });
  return toDependencyResult(REQUIREMENTS, listed);
}

const toTooLargeProblem = (path: string): DependencyProblem => {
  return { path, line: null, message: `has more than ${BYTES_MAX / 1024} KB of package declarations` };
};

/** A comment begins at the start of the line or after a space, as for pip. */
function removeComment(line: string): string {
  const start = line.search(/(?:^|[ \t])#/);
  return start < 0 ? line : line.slice(0, start);
}

function toDependencyResult(path: string, listed: { text: string; getLine: () => number | null }[]): DependencyResult {
  const names: string[] = [];
  const problems: DependencyProblem[] = [];
  for (const { text, getLine } of listed) {
    if (problems.length === PROBLEMS_MAX) break;
    const parsed = parseRequirement(text);
    if ('name' in parsed) names.push(parsed.name);
    else problems.push({ path, line: getLine(), message: parsed.problem });
  }
  if (problems.length) return { problems };
  const packages = [...new Set(names)];
  if (packages.length <= DEPENDENCIES_MAX) return { found: { source: path, packages } };
  const message = `lists ${packages.length} packages, ${DEPENDENCIES_MAX} are possible`;
  return { problems: [{ path, line: null, message }] };
}

/** Names what pip and uv would accept here and this platform does not, so that the author need not guess. */
function parseRequirement(text: string): DeclaredDependency {
  const quoted = `"${text.slice(0, QUOTED_CHARS_MAX)}"`;
  if (text.includes('--hash')) {
    return { problem: `${quoted} has a hash: remove the hash; digests are recorded during the first installation` };
  }
  if (text.startsWith('-')) {
    return { problem: `${quoted} is an option: list the packages themselves; all come from the executors' index` };
  }
  if (text.endsWith('\\')) return { problem: `${quoted} continues on the next line: put it all on one line` };
  if (text.includes(';')) return { problem: `${quoted} has a condition after ";": list only what every run needs` };
  const parsed = parseDependency(text);
  return 'name' in parsed ? parsed : { problem: `${quoted} ${parsed.problem}` };
}
