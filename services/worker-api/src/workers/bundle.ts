/** A worker as one zip: its files, and worker.yaml with all that is not a file. What is exported can be created again. */
import { writeZip } from '@gantry/archive';
import { AppError, invalid, readYaml } from '@gantry/http';
import { readArchive } from '@gantry/program';
import { stringify } from 'yaml';
import { type FileTree, isLeftOut, treeOf } from '../file-trees/file-tree';
import type { Worker, WorkerTrigger } from '../generated/prisma/client';
import { DEFINITION_FIELDS, type Definition, parseDefinition } from './definition';
import { isManifest } from './worker-input';

const MANIFEST_BYTES_MAX = 512 * 1024;
const YAML = { charsMax: MANIFEST_BYTES_MAX, aliasesMax: 20 };

/** @throws AppError 400 */
export async function readBundle(zip: Buffer) {
  const files = withoutFolder(await readArchive(zip, 'bundle', isLeftOut));
  const manifests = files.filter(({ path }) => isManifest(path));
  const [manifest, another] = manifests;
  if (!manifest) throw wrong('holds no worker.yaml and no worker.json');
  if (another) throw wrong(`holds both ${manifest.path} and ${another.path}; one of them must go`);
  const fields = fieldsOf(manifest.path, manifest.content);
  const others = files.filter((file) => file !== manifest);
  if (!others.length) throw wrong(`holds nothing but ${manifest.path}`);
  return {
    /** What worker.yaml says, not checked yet. */
    fields,
    tree: treeOf(others, 'bundle'),
  };
}

/** Whoever zips a folder gets the folder into the zip. */
function withoutFolder<File extends { path: string }>(files: File[]): File[] {
  const [folder, ...rest] = files[0]?.path.split('/') ?? [];
  if (!rest.length || !files.every(({ path }) => path.startsWith(`${folder}/`))) return files;
  const inside = files.map((file) => ({ ...file, path: file.path.slice((folder as string).length + 1) }));
  return inside.some(({ path }) => isManifest(path)) ? inside : files;
}

const wrong = (message: string) => invalid([{ path: 'bundle', message }], 'bad_bundle');

function fieldsOf(path: string, content: Buffer): Record<string, unknown> {
  if (content.length > MANIFEST_BYTES_MAX) throw wrong(`${path} is larger than ${MANIFEST_BYTES_MAX / 1024} KB`);
  let value: unknown;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(content);
    value = path.endsWith('.json') ? JSON.parse(text) : readYaml(text, YAML);
    // What JSON can't hold (a map with keys that are no texts, a value without end) is made plain or found here.
    value = JSON.parse(JSON.stringify(value ?? null, refuseUnkeepable));
  } catch (cause) {
    const message = `${path} can't be read: ${(cause as Error).message.split('\n')[0]}`;
    throw new AppError('invalid', 'bad_bundle', `bundle: ${message}`, { cause, fields: [{ path: 'bundle', message }] });
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw wrong(`${path} must be a map of fields`);
  return value as Record<string, unknown>;
}

/** As of JSON bodies: a limit of NaN would be no limit, and half of a UTF-16 pair is no text. */
function refuseUnkeepable(key: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`"${key}" is ${value}`);
  if (/\p{Surrogate}/u.test(typeof value === 'string' ? key + value : key)) {
    throw new Error(`"${key}" contains half of a character`);
  }
  return value;
}

export interface ExportedWorker {
  worker: Pick<Worker, 'name' | 'description' | 'tags'>;
  definition: Definition;
  triggers: WorkerTrigger[];
  tree: FileTree;
}

/** The same worker gives the same bytes. Neither secrets nor the id nor the visibility are in it. */
export function writeBundle({ tree, ...exported }: ExportedWorker): Promise<Buffer> {
  return writeZip([{ path: 'worker.yaml', content: Buffer.from(manifestOf(exported)) }, ...tree]);
}

export function manifestOf({ worker, definition, triggers }: Omit<ExportedWorker, 'tree'>): string {
  const { name, description, tags } = worker;
  const started = triggers.map(triggerOf);
  return stringify({
    name,
    ...(description && { description }),
    ...(tags.length && { tags }),
    ...withoutDefaults(definition),
    ...(started.length && { triggers: started }),
  });
}

function withoutDefaults(definition: Definition): Record<string, unknown> {
  const plain: Definition = parseDefinition({});
  return Object.fromEntries(
    DEFINITION_FIELDS.flatMap((field): [string, unknown][] => {
      if (field === 'runner' || field === 'entrypoint') return [[field, definition[field]]];
      const value = different(definition[field], plain[field]);
      return value === undefined ? [] : [[field, value]];
    }),
  );
}

/** What of a value is not as in the default; undefined: nothing. */
function different(value: unknown, plain: unknown): unknown {
  if (JSON.stringify(value) === JSON.stringify(plain)) return undefined;
  if (value === null || plain === null || typeof value !== 'object' || Array.isArray(value)) return value;
  const other = plain as Record<string, unknown>;
  return Object.fromEntries(Object.entries(value).filter(([key, inner]) => inner !== other[key]));
}

function triggerOf({ type, cron, timezone, misfire, inputs, on, sourceId, webhookSigningKey }: WorkerTrigger) {
  switch (type) {
    case 'cron': {
      const hasInputs = Object.keys((inputs as object | null) ?? {}).length > 0;
      return { type, cron, timezone, misfire, ...(hasInputs && { inputs }) };
    }
    case 'webhook':
      return { type, ...(webhookSigningKey && { signed: true }) };
    case 'event':
      return { type, on, ...(sourceId !== null && { source_id: sourceId }) };
  }
}
