/** The items of a program's `inputs` and `outputs`. */
import { z } from 'zod';
import { listPatternProblems, PATTERN_CHARS_MAX } from './user-pattern';

const inputTypes = [
  'text',
  'textarea',
  'number',
  'integer',
  'boolean',
  'select',
  'date',
  'url',
  'json',
  'file',
] as const;
type InputType = (typeof inputTypes)[number];

const outputTypes = ['text', 'markdown', 'json', 'csv', 'table', 'number', 'image', 'file'] as const;

const ITEMS_MAX = 100;

/** Common alternative names, from JSON Schema, Python and habit. */
const SYNONYMS = { string: 'text', str: 'text', object: 'json', dict: 'json', array: 'json', list: 'json' } as const;
const INPUT_SYNONYMS: Record<string, InputType> = {
  ...SYNONYMS,
  int: 'integer',
  float: 'number',
  bool: 'boolean',
  checkbox: 'boolean',
  enum: 'select',
};
const OUTPUT_SYNONYMS: Record<string, (typeof outputTypes)[number]> = {
  ...SYNONYMS,
  int: 'number',
  integer: 'number',
  float: 'number',
  boolean: 'json',
  bool: 'json',
};

const replaceSynonym = (synonyms: Record<string, string>) => (value: unknown) =>
  typeof value === 'string' && Object.hasOwn(synonyms, value) ? synonyms[value] : value;

/** A dash is fine for code that takes the dict; a Python keyword argument cannot have one. */
const itemName = z
  .string()
  .regex(
    /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/,
    'must start with a letter or _ and contain only letters, digits, _ and - (at most 64 characters)',
  )
  .refine((name) => !['__proto__', 'constructor', 'prototype'].includes(name), 'is not an allowed name');

const label = z.string().max(200);
const option = z.union([
  z.union([z.string(), z.number(), z.boolean()]).transform((value) => ({ value, label: String(value) })),
  z.object({ value: z.union([z.string(), z.number(), z.boolean()]), label }),
]);

const inputItem = z
  .looseObject({
    name: itemName,
    label: label.optional(),
    type: z.preprocess(replaceSynonym(INPUT_SYNONYMS), z.enum(inputTypes)).default('text'),
    required: z.boolean().default(false),
    default: z.unknown().optional(),
    description: z.string().max(2_000).optional(),
    placeholder: z.string().max(200).optional(),
    options: z.array(option).min(1).max(500).optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    min_length: z.int().min(0).optional(),
    max_length: z.int().min(0).optional(),
    pattern: z.string().max(PATTERN_CHARS_MAX).optional(),
    accepts: z.preprocess(splitList, z.array(z.string().max(100)).max(50)).optional(),
    max_size_mb: z.number().positive().max(10).optional(),
  })
  .superRefine((item, context) => {
    const addIssue = (key: string, message: string) => context.addIssue({ code: 'custom', path: [key], message });
    if (item.type === 'select' && !item.options) addIssue('options', 'a select must have options');
    if (item.type === 'file' && item.default !== undefined) addIssue('default', 'a file cannot have a default');
    if (item.minimum !== undefined && item.maximum !== undefined && item.minimum > item.maximum) {
      addIssue('minimum', 'is greater than maximum');
    }
    if (item.min_length !== undefined && item.max_length !== undefined && item.min_length > item.max_length) {
      addIssue('min_length', 'is greater than max_length');
    }
  });

export type InputItem = z.infer<typeof inputItem>;

/** A bare string is a required text input. */
const normalizeInput = z.preprocess(
  (value) => (typeof value === 'string' ? { name: value, type: 'text', required: true } : value),
  inputItem,
);

const outputItem = z.looseObject({
  name: itemName,
  label: label.optional(),
  type: z.preprocess(replaceSynonym(OUTPUT_SYNONYMS), z.enum(outputTypes)).default('text'),
});

export type OutputItem = z.infer<typeof outputItem>;

const normalizeOutput = z.preprocess((value) => (typeof value === 'string' ? { name: value } : value), outputItem);

/** Expands every shorthand; at most 100, unique names. For items that were accepted before. */
export const storedInputItems = z.array(normalizeInput).max(ITEMS_MAX).superRefine(assertUniqueNames);
/** Validates new items from a request. */
export const inputItems = storedInputItems.superRefine(assertUsablePatterns);
export const outputItems = z.array(normalizeOutput).max(ITEMS_MAX).superRefine(assertUniqueNames);

function assertUniqueNames(items: { name: string }[], context: z.core.$RefinementCtx): void {
  const seen = new Set<string>();
  for (const [index, { name }] of items.entries()) {
    if (seen.has(name)) context.addIssue({ code: 'custom', path: [index], message: `the name "${name}" is taken` });
    seen.add(name);
  }
}

function assertUsablePatterns(items: InputItem[], context: z.core.$RefinementCtx): void {
  const patterns = items.flatMap(({ pattern }, index) => (pattern === undefined ? [] : [{ pattern, index }]));
  for (const [nth, message] of listPatternProblems(patterns.map(({ pattern }) => pattern)).entries()) {
    if (message) context.addIssue({ code: 'custom', path: [patterns[nth]?.index ?? 0, 'pattern'], message });
  }
}

/** Splits `".csv,.tsv"`, the HTML form. */
function splitList(value: unknown): unknown {
  return typeof value === 'string' ? value.split(',').map((part) => part.trim()) : value;
}
