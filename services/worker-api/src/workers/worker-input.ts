/** Validates the worker in a request or a bundle, field by field. */
import { formatIssues, invalid, runChecks } from '@gantry/errors';
import { z } from 'zod';
import type { FileChange, FileTree } from '../file-trees/file-tree';
import { parseTriggers, type TriggerInput } from '../triggers/trigger';
import {
  DEFINITION_FIELDS,
  type Definition,
  type DefinitionInput,
  getDefaultEntrypoint,
  parseDefinition,
} from './definition';
import { isReserved, SLUG } from './slug';

const TAGS_MAX = 20;
/** A model call takes 128 KB in all. */
const SKILL_BYTES_MAX = 40_000;
/** Matches texts for columns: those of PostgreSQL can't hold NUL. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const LINE = /^[^\x00-\x1f\x7f]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const TEXT = /^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*$/;

const tag = z.string().trim().min(1).max(50).regex(LINE, 'must not contain control characters');
const label = z.string().trim().min(1).max(120).regex(LINE, 'must not contain control characters');
const text = (max: number) => z.string().max(max).regex(TEXT, 'must not contain control characters');

const settings = {
  name: label,
  description: text(5_000).default(''),
  tags: z
    .array(tag)
    .max(TAGS_MAX)
    .transform((tags) => [...new Set(tags)])
    .default([]),
  visibility: z.enum(['private', 'workspace']).default('workspace'),
};

const id = z
  .string()
  .regex(SLUG, 'must be 3 to 64 lower-case letters, digits and dashes, with no dash at either end')
  .refine((slug) => !isReserved(slug), 'is reserved by this API; choose a different id');

const message = text(500).trim().optional();

/** The input of parseTriggers. */
const triggers = {
  trigger: z.unknown().optional(),
  triggers: z.unknown().optional(),
  schedule: z.unknown().optional(),
};
const definition = Object.fromEntries(DEFINITION_FIELDS.map((field) => [field, z.unknown().optional()]));

const newWorker = z.strictObject({ ...settings, ...triggers, ...definition, id: id.optional(), message });
const change = z.strictObject({
  ...z.object(settings).partial().shape,
  ...triggers,
  ...definition,
  message,
  base_sha: z.string().optional(),
  evaluate_on_save: z.boolean().optional(),
  webhook_secret_rotate: z.boolean().default(false),
  webhook_signing_key_rotate: z.boolean().default(false),
});

export type Settings = { [Field in keyof typeof settings]: z.output<(typeof settings)[Field]> };

export interface NewWorkerInput {
  /** Absent: made of the name. */
  id: string | undefined;
  settings: Settings;
  triggers: TriggerInput[];
  definition: Definition;
  tree: FileTree;
  message: string | null;
}

export interface WorkerChange {
  settings: Partial<Settings>;
  /** Undefined: as before. */
  evaluateOnSave: boolean | undefined;
  /** Null: they stay. */
  triggers: TriggerInput[] | null;
  /** The change is of the schedule alone: webhook and event triggers stay beside it. */
  keepsOtherTriggers: boolean;
  definition: DefinitionInput;
  files: FileChange[];
  /** The sha that the change was made from: refused if it is not the current one. */
  baseSha: string | null;
  message: string | null;
  rotateSecret: boolean;
  rotateSigningKey: boolean;
}

/** @throws AppError 400 naming each field that is wrong */
export function parseNewWorker(body: Record<string, unknown>, buildTree: () => FileTree): NewWorkerInput {
  const { entrypoint = getDefaultEntrypoint(body.runner) } = body;
  const [parsed, hasField, triggers, tree] = runChecks(
    () => parseBody(newWorker, body),
    () => parseDefinition(pickDefinitionFields(body)),
    () => parseTriggers(body) ?? [],
    () => {
      const tree = buildTree();
      if (typeof entrypoint === 'string') requireEntrypoint({ entrypoint, runner: body.runner }, tree);
      return tree;
    },
  );
  const { name, description, tags, visibility } = parsed;
  return {
    id: parsed.id,
    settings: { name, description, tags, visibility },
    triggers,
    definition: hasField,
    tree,
    message: parsed.message || null,
  };
}

/** @throws AppError 400 naming each field that is wrong */
export function parseWorkerChange({ files = [], ...body }: Record<string, unknown>): WorkerChange {
  const [parsed, triggers] = runChecks(
    () => parseBody(change, body),
    () => parseTriggers(body),
  );
  const hasField = (field: keyof Settings) => Object.hasOwn(body, field);
  const fields = (Object.keys(settings) as (keyof Settings)[]).filter(hasField);
  return {
    settings: Object.fromEntries(fields.map((field) => [field, parsed[field]])),
    evaluateOnSave: parsed.evaluate_on_save,
    triggers,
    keepsOtherTriggers: body.schedule !== undefined,
    definition: pickDefinitionFields(body),
    files: files as FileChange[],
    baseSha: parsed.base_sha ?? null,
    message: parsed.message || null,
    rotateSecret: parsed.webhook_secret_rotate,
    rotateSigningKey: parsed.webhook_signing_key_rotate,
  };
}

function parseBody<T extends z.ZodType>(schema: T, body: unknown): z.output<T> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw invalid(formatIssues(parsed.error), 'bad_worker');
}

/** The fields of a definition in a request, not validated yet. */
export function pickDefinitionFields(body: Record<string, unknown>): DefinitionInput {
  const fields = DEFINITION_FIELDS.filter((field) => body[field] !== undefined);
  return Object.fromEntries(fields.map((field) => [field, body[field]]));
}

interface Entrypoint {
  entrypoint: string;
  runner: unknown;
}

/** @throws AppError 400 */
export function requireEntrypoint(definition: Entrypoint, tree: { path: string; size: number }[]): void {
  const message = findEntrypointProblem(definition, tree);
  if (message) throw invalid([{ path: 'entrypoint', message }], 'bad_entrypoint');
}

export function findEntrypointProblem(
  { entrypoint, runner }: Entrypoint,
  tree: { path: string; size: number }[],
): string | null {
  const file = tree.find(({ path }) => path === entrypoint);
  if (!file) return `the files do not include "${entrypoint}"`;
  if (runner !== 'agent' || file.size <= SKILL_BYTES_MAX) return null;
  return `"${entrypoint}" is ${file.size} bytes; the limit is ${SKILL_BYTES_MAX} bytes because a model reads the whole file for every response; move some of the text to other files`;
}

/** worker.yaml is made of the worker when it is exported: as a file beside the others it would be a second truth. */
export function rejectManifests(changes: { path: string }[], field = 'files'): void {
  const problems = changes.flatMap(({ path }, index) =>
    isManifest(path)
      ? [
          {
            path: `${field}.${index}.path`,
            message: `"${path}" is generated from the worker; change the worker's fields instead`,
          },
        ]
      : [],
  );
  if (problems.length) throw invalid(problems, 'bad_files');
}

const MANIFESTS = new Set(['worker.yaml', 'worker.yml', 'worker.json']);
export const isManifest = (path: string): boolean => MANIFESTS.has(path);
