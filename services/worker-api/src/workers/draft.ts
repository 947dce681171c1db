/** Inspects and tests unsaved files and definitions, which do not become a version. */
import {
  applyFileEdits,
  computeVersionSha,
  type FileChange,
  type FileTree,
  listEntries,
} from '../file-trees/file-tree';
import { readTree } from '../file-trees/tree-pack';
import { describeSkills } from './agent-skills';
import { addFileDependencies } from './code-dependencies';
import { type Definition, type DefinitionInput, parseDefinition, toNamedDefinition } from './definition';
import { applyDefinitionChange } from './edit-worker';
import { getRequestedVersion, type Version } from './version-repository';
import type { WorkerDeps } from './worker-deps';
import { rejectManifests } from './worker-input';
import type { WorkerWithTriggers } from './worker-repository';

/** As a request writes it: the fields of a worker that are versioned, each of them optional. */
export interface DraftInput extends DefinitionInput {
  files?: FileChange[];
  /** The version that it was made from. Default: the current one. */
  base_sha?: string;
}

type DraftDeps = Pick<WorkerDeps, 'prisma' | 'objects' | 'bus'>;

export interface Draft {
  definition: Definition;
  tree: FileTree;
  /** Null for a worker that does not exist yet. */
  base: Version | null;
  sha: string;
}

/**
 * The draft as it would be saved, with what its skills are called and the packages that its files declare.
 * @throws AppError 400 naming each field, file, package and skill that is wrong; 404 for a version that the worker
 * does not have
 */
export async function resolveDraft(
  deps: DraftDeps,
  worker: WorkerWithTriggers | null,
  input: DraftInput,
): Promise<Draft> {
  const { tree, base, definition: parsed } = await loadDraft(deps, worker, input);
  const definition = await addFileDependencies(deps.bus, await describeSkills(parsed, tree), tree);
  return { definition, tree, base, sha: computeVersionSha(listEntries(tree), toNamedDefinition(definition)) };
}

/**
 * The fields and files of a draft. Its skills and lists of packages are not looked into.
 * @param worker null: everything is in the request
 * @throws AppError 400 naming each field and file that is wrong; 404 for a version that the worker does not have
 */
export async function loadDraft(
  { prisma, objects }: DraftDeps,
  worker: WorkerWithTriggers | null,
  { files = [], base_sha: sha, ...fields }: DraftInput,
): Promise<Omit<Draft, 'sha'>> {
  rejectManifests(files, 'draft.files');
  const base = worker && (await getRequestedVersion(prisma, worker, sha));
  const definition = base ? applyDefinitionChange(base.definition, fields) : parseDefinition(fields);
  const tree = applyFileEdits(base ? await readTree(objects, base.code) : [], files, 'draft.files');
  return { definition, tree, base };
}
