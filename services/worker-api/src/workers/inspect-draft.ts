/**
 * Reports what saving would refuse or warn of, while the author is still typing. Only what a person is working on is
 * parsed: the entrypoint, and the Python files that the request brings.
 */
import type { OperationCall } from '@gantry/http';
import type { Principal } from '@gantry/limits';
import type { SurfaceSchemas } from '@gantry/openapi';
import {
  inspectDraft as askExecutor,
  type DraftInspection,
  type InspectionWarning,
  listInspectionWarnings,
  readFileDependencies,
} from '@gantry/program';
import { decodeText, type FileTree } from '../file-trees/file-tree';
import { readSkills } from './agent-skills';
import { declaresPackages } from './code-dependencies';
import type { Definition } from './definition';
import { loadDraft } from './draft';
import { listSkillWarnings } from './skill-warnings';
import type { WorkerDeps } from './worker-deps';
import { findEntrypointProblem } from './worker-input';
import { getVisibleWorker } from './worker-repository';

/** Bounds all sources together, as JSON: they travel in one message of at most 512 KB. */
const SOURCES_BYTES_MAX = 128 * 1024;
/** Longer names are no importable modules. */
const MODULE = /^[\p{L}\p{N}_]{1,100}$/u;

type DraftProblem = SurfaceSchemas<'worker'>['DraftProblem'];

/** @throws AppError 400, 404 as saving it would; 503 with no executor to ask */
export async function inspectDraft(
  deps: WorkerDeps,
  caller: Principal,
  { worker_id: id, draft: draftInput }: OperationCall<'worker', 'inspectDraft'>['body'],
) {
  const worker = id === undefined ? null : await getVisibleWorker(deps.prisma, caller, id);
  const { definition, tree } = await loadDraft(deps, worker, draftInput);
  const { entrypoint } = definition;
  const packages = await resolvePackages(deps, definition, tree);
  if (definition.runner === 'agent') return inspectText(definition, tree, packages.problems);
  const written = new Set(draftInput.files?.map(({ path }) => path));
  const { sources, problems } = listSources(tree, entrypoint, written);
  const modules = listModules(tree, entrypoint);
  const found = await askExecutor(deps.bus, { entrypoint, draft: { sources, modules } });
  const { parameters, imports, secrets } = found;
  const complete = { ...definition, python_dependencies: packages.names };
  return {
    problems: [
      ...problems,
      ...packages.problems,
      ...listDraftProblems(found),
      ...listInspectionProblems(found, complete),
    ],
    parameters,
    imports,
    secrets,
  };
}

async function resolvePackages(
  { bus }: WorkerDeps,
  definition: Definition,
  tree: FileTree,
): Promise<{ names: string[]; problems: DraftProblem[] }> {
  if (declaresPackages(definition)) return { names: definition.python_dependencies, problems: [] };
  const reading = await readFileDependencies(bus, definition.entrypoint, tree);
  if (!('problems' in reading)) return { names: reading.found?.packages ?? [], problems: [] };
  const problems = reading.problems.map(({ path: file, line, message }) =>
    buildProblem('error', 'bad_dependencies', message, { file, line }),
  );
  return { names: [], problems };
}

/** The file of an agent is words for a model, and no code. */
async function inspectText(definition: Definition, tree: FileTree, packageProblems: DraftProblem[]) {
  const entrypointProblem = findEntrypointProblem(definition, tree);
  const skills = await readSkills(definition.skills, tree);
  const skillProblems = skills.problems.map(({ path: file, line, message }) => {
    // Bounded: 20 skills (SKILLS_MAX) and 500 files (FILES_MAX).
    const exists = tree.some(({ path }) => path === file);
    return exists
      ? buildProblem('error', 'bad_skill', message, { file, line })
      : buildProblem('error', 'bad_skill', `skill "${file}": ${message}`);
  });
  const warnings = listSkillWarnings(definition, tree).map(({ code, path: file, line, message }) =>
    buildProblem('warning', code, message, { file, line }),
  );
  const problems = entrypointProblem === null ? [] : [buildProblem('error', 'bad_entrypoint', entrypointProblem)];
  problems.push(...packageProblems, ...skillProblems, ...warnings);
  return { problems, parameters: [], imports: [], secrets: [] };
}

function listSources(tree: FileTree, entrypoint: string, written: Set<string>) {
  const problems: DraftProblem[] = [];
  const sources: { path: string; text: string }[] = [];
  if (!tree.some(({ path }) => path === entrypoint)) {
    const hint = 'add the file, or set the entrypoint to the file that defines run()';
    problems.push(buildProblem('error', 'bad_entrypoint', `the files do not include "${entrypoint}"`, { hint }));
  }
  const wanted = tree.filter(({ path }) => path === entrypoint || (written.has(path) && path.endsWith('.py')));
  // The entrypoint goes first: what comes later may find no room.
  wanted.sort((a, b) => Number(b.path === entrypoint) - Number(a.path === entrypoint));
  let left = SOURCES_BYTES_MAX;
  for (const { path, content } of wanted) {
    const text = decodeText(content);
    if (text === null) {
      problems.push(buildProblem('error', 'unreadable', 'is not UTF-8 text', { file: path }));
      continue;
    }
    const bytes = Buffer.byteLength(JSON.stringify({ path, text }));
    if (bytes > left) {
      const message = 'is too large to check while you edit; it will be checked when you save';
      problems.push(buildProblem('info', 'not_inspected', message, { file: path }));
      continue;
    }
    left -= bytes;
    sources.push({ path, text });
  }
  return { sources, problems };
}

const buildProblem = (
  severity: DraftProblem['severity'],
  code: DraftProblem['code'],
  message: string,
  details: Partial<Pick<DraftProblem, 'file' | 'line' | 'hint'>> = {},
): DraftProblem => ({ file: null, line: null, column: null, hint: null, ...details, severity, code, message });

/** Names that an import finds beside the entrypoint and at the root, without the files themselves. */
function listModules(tree: FileTree, entrypoint: string): string[] {
  const folder = entrypoint.slice(0, entrypoint.lastIndexOf('/') + 1);
  const names = tree.flatMap(({ path }) => {
    const inFolder = folder && path.startsWith(folder) ? [path.slice(folder.length)] : [];
    return [path, ...inFolder].map((inside) => (inside.split('/')[0] as string).replace(/\.py$/, ''));
  });
  return [...new Set(names)].filter((name) => MODULE.test(name));
}

const listDraftProblems = ({ problems }: DraftInspection): DraftProblem[] =>
  problems.map(({ path, line, column, code, message }) => ({
    file: path,
    line,
    column,
    severity: 'error',
    code,
    message,
    hint: code === 'no_run' ? 'define run() at the top level; its parameters are the inputs' : null,
  }));

const CODES = {
  parameter: 'unknown_parameter',
  import: 'undeclared_import',
  secret: 'undeclared_secret',
} as const satisfies Record<InspectionWarning['kind'], string>;

const HINTS = {
  parameter: 'declare it as an input, or give it a default',
  import: null,
  secret: 'declare it as a secret, or read it with get() if it may be missing',
} as const;

function listInspectionProblems(inspection: DraftInspection, definition: Definition): DraftProblem[] {
  const { entrypoint, inputs, secrets, python_dependencies: dependencies } = definition;
  return listInspectionWarnings(inspection, { inputs, dependencies, secrets }).map(({ kind, name, message, hint }) => {
    // Bounded: 150 doubts and 150 places (NAMES_MAX of inspection.py, for each of the three kinds).
    const place = inspection.places.find((one) => one.kind === kind && one.name === name);
    return {
      file: entrypoint,
      line: place?.line ?? null,
      column: place?.column ?? null,
      severity: 'warning',
      code: CODES[kind],
      message,
      hint: hint ?? HINTS[kind],
    };
  });
}
