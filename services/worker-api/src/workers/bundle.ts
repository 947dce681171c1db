/**
 * A worker as one zip: its files, and worker.yaml with all that is not a file. What is exported can be created again.
 */
import { writeZip } from '@gantry/archive';
import { invalid } from '@gantry/errors';
import { readArchive } from '@gantry/program';
import { applyFileChanges, type FileTree, isIgnored } from '../file-trees/file-tree';
import type { Worker, WorkerTrigger } from '../generated/prisma/client';
import { toManifestTrigger } from '../triggers/trigger';
import { toManifestSkills } from './agent-skills';
import { DEFINITION_FIELDS, type Definition, parseDefinition, toDeclaredResources } from './definition';
import { MANIFEST_BYTES_MAX } from './manifest';
import type { Manifests } from './manifests';
import { isManifest } from './worker-input';

/** @throws AppError 400 */
export async function readBundle(manifests: Manifests, zip: Buffer) {
  const files = stripRootFolder(await readArchive(zip, 'bundle', isIgnored));
  const found = files.filter(({ path }) => isManifest(path));
  const [manifest, another] = found;
  if (!manifest) throw createBadBundleError('contains no worker.yaml or worker.json');
  if (another) throw createBadBundleError(`contains both ${manifest.path} and ${another.path}; remove one of them`);
  const fields = await readFields(manifests, manifest.path, manifest.content);
  const others = files.filter((file) => file !== manifest);
  if (!others.length) throw createBadBundleError(`contains only ${manifest.path}`);
  return {
    /** The content of worker.yaml, not validated yet. */
    fields,
    tree: applyFileChanges([], others, 'bundle'),
  };
}

/** Tools that zip a folder put the folder itself into the zip. */
function stripRootFolder<File extends { path: string }>(files: File[]): File[] {
  const [folder, ...rest] = files[0]?.path.split('/') ?? [];
  if (!rest.length || !files.every(({ path }) => path.startsWith(`${folder}/`))) return files;
  const inside = files.map((file) => ({ ...file, path: file.path.slice((folder as string).length + 1) }));
  return inside.some(({ path }) => isManifest(path)) ? inside : files;
}

const createBadBundleError = (message: string) => invalid([{ path: 'bundle', message }], 'bad_bundle');

async function readFields(manifests: Manifests, path: string, content: Buffer): Promise<Record<string, unknown>> {
  if (content.length > MANIFEST_BYTES_MAX)
    throw createBadBundleError(`${path} is larger than ${MANIFEST_BYTES_MAX / 1024} KB`);
  const parsed = await manifests.parse(path, content);
  if ('problem' in parsed) throw createBadBundleError(`${path} can't be read: ${parsed.problem}`);
  const { value } = parsed;
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw createBadBundleError(`${path} must be a mapping of fields`);
  return value as Record<string, unknown>;
}

export interface ExportedWorker {
  worker: Pick<Worker, 'name' | 'description' | 'tags'>;
  definition: Definition;
  triggers: WorkerTrigger[];
  tree: FileTree;
}

/** The same worker gives the same bytes. Neither secrets nor the id nor the visibility are in it. */
export async function writeBundle(manifests: Manifests, { tree, ...exported }: ExportedWorker): Promise<Buffer> {
  const content = Buffer.from(await manifests.format(toManifest(exported)));
  return writeZip([{ path: 'worker.yaml', content }, ...tree]);
}

export function toManifest({ worker, definition, triggers }: Omit<ExportedWorker, 'tree'>): Record<string, unknown> {
  const { name, description, tags } = worker;
  const started = triggers.map(toManifestTrigger);
  return {
    name,
    ...(description && { description }),
    ...(tags.length && { tags }),
    ...omitDefaults(definition),
    ...(started.length && { triggers: started }),
  };
}

function omitDefaults(complete: Definition): Record<string, unknown> {
  const definition = toDeclaredResources(complete);
  const defaults: Definition = parseDefinition({});
  return Object.fromEntries(
    DEFINITION_FIELDS.flatMap((field): [string, unknown][] => {
      if (field === 'runner' || field === 'entrypoint') return [[field, definition[field]]];
      const value = omitEqualValues(definition[field], defaults[field]);
      if (value === undefined) return [];
      return [[field, field === 'skills' ? toManifestSkills(definition.skills) : value]];
    }),
  );
}

/** Returns the parts of a value that differ from the default; undefined without any. */
function omitEqualValues(value: unknown, defaults: unknown): unknown {
  if (JSON.stringify(value) === JSON.stringify(defaults)) return undefined;
  if (value === null || defaults === null || typeof value !== 'object' || Array.isArray(value)) return value;
  const other = defaults as Record<string, unknown>;
  return Object.fromEntries(Object.entries(value).filter(([key, inner]) => inner !== other[key]));
}
