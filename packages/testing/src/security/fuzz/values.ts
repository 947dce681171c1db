/** Values that a schema allows, and values that an attacker would try all the same. */
import type { Node } from './openapi';
import type { Random } from './random';

export interface ValueContext {
  random: Random;
  deref(node: Node): Node;
  /** The id or name of something that exists, where the field is called like one. */
  reference(field: string): string | undefined;
  /** Share of values at the edge of what the schema allows, or just beyond. */
  edge: number;
}

/** Longer ones cost time without finding more; the size limits are tried by bodies of their own. */
const LONG_CHARS = 8_000;
const DEPTH_MAX = 6;

/** Nothing that is made up may lead off this machine. */
const URLS = [
  'http://127.0.0.1:9/',
  'https://hooks.example.invalid/x',
  'http://[::1]:9/',
  'http://169.254.169.254/latest/meta-data',
  'ftp://127.0.0.1/',
  'javascript:alert(1)',
  'http://a@127.0.0.1:9#@example.invalid/',
];

const PLAIN_STRINGS = [
  'abc',
  'a-thing',
  'A_SECRET',
  'ABCD-2345',
  '1',
  'main.py',
  'notes/a.txt',
  '0 9 * * *',
  'Europe/Berlin',
  'a'.repeat(64),
  'somebody@example.invalid',
  '2026-01-01T00:00:00.000Z',
  'def run():\n    return {}\n',
  '---\nname: a-thing\ndescription: Something.\n---\n# Text\n',
];

const DATES = [
  '0000-00-00T00:00:00Z',
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00.000Z',
  '1969-12-31T23:59:59.999Z',
  '9999-12-31T23:59:59.999Z',
  '+275760-09-13T00:00:00.000Z',
  '-271821-04-20T00:00:00Z',
  '2026-02-29T00:00:00Z',
  '2026-02-30T25:61:61Z',
  '2026-06-30T23:59:60Z',
  '2026-01-01T00:00:00+99:99',
  '2026-01-01T00:00:00.123456789Z',
  '2026-01-01',
  '2026-01-01t00:00:00z',
];

/** Parts of long texts: each has been slow for some parser. */
const UNITS = [
  'a',
  ' ',
  '\n',
  'é',
  '<!--',
  '- ',
  '# ',
  `#${' '.repeat(300)}`,
  '*',
  '[',
  '](',
  '`',
  '|',
  '&lt;',
  '"',
  '\\',
  '\0',
  '({',
  'a@',
  '../',
];
const EDGE_CHARS = 300_000;
const EDGE_ITEMS = 1_500;

export const HOSTILE_STRINGS = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  'a\udfffb',
  '\ufeff',
  '\u202eabc',
  '👩‍👩‍👧‍👦'.repeat(20),
  'é'.repeat(200),
  'a'.repeat(LONG_CHARS),
  '\n'.repeat(200),
  '__proto__',
  'constructor',
  'toString',
  '../../../../etc/passwd',
  '..%2f..%2fetc',
  '/absolute',
  'a//b/./c',
  'a\\b',
  'CON',
  '%00',
  '%',
  '%zz',
  '%s%n%x',
  "'; DROP TABLE runs; --",
  '" OR 1=1',
  '<script>alert(1)</script>',
  '{{7*7}}#{7*7}',
  '=cmd|calc',
  '\r\nX-Injected: 1',
  'NaN',
  'Infinity',
  '-Infinity',
  '1e309',
  '-1',
  '0x10',
  '9'.repeat(400),
  'null',
  'undefined',
  'true',
  '[]',
  '{}',
  ...DATES,
  '* * * * * *',
  '60 25 32 13 8',
  '*/0 * * * *',
  '0 0 31 2 *',
  'Mars/Olympus',
  '^(\\w|\\d)+$',
  '(a+)+$',
  '[',
  '(?<a',
  `#${' '.repeat(300)}`,
  '<!--'.repeat(500),
  '- '.repeat(200),
  '[['.repeat(500),
  '*'.repeat(500),
  '`'.repeat(500),
  `${'a'.repeat(60)}!`,
  'ws_AAAAAAAAAAAAAAAAAAAAA',
  'run_AAAAAAAAAAAAAAAAAAAAA',
  'svc_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  ...URLS,
];

const HOSTILE_NUMBERS = [
  ...[0, -0, 1, -1, 0.1, 1e-320, 1e20, 1e308, -1e308],
  ...[2 ** 31 - 1, 2 ** 31, -(2 ** 31) - 1, 2 ** 32, 2 ** 53, 2 ** 53 - 1, 2 ** 63, -(2 ** 63), 8.64e15, 8.64e15 + 1],
];

export function generateHostileValue(random: Random): unknown {
  const kind = random.int(10);
  if (kind < 5) return random.pick(HOSTILE_STRINGS);
  if (kind < 7) return random.pick(HOSTILE_NUMBERS);
  return random.pick<() => unknown>([
    () => null,
    () => true,
    () => [],
    () => ({}),
    () => [[]],
    () => ({ $ne: null }),
    () => ({ set: 'x' }),
    () => ({ toString: 'x', valueOf: 1, hasOwnProperty: null }),
    () => JSON.parse('{"__proto__": {"polluted": true}}'),
    () => ({ constructor: { prototype: { polluted: true } } }),
    () => Array.from({ length: 1_000 }, () => 'x'),
    () => Array.from({ length: 300 }, (_, i) => ({ i })),
    () => Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`key${i}`, i])),
    () => buildNested(70),
    () => buildNested(2_000),
  ])();
}

function buildNested(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = i % 2 ? [value] : { a: value };
  return value;
}

/** A value that the schema allows, as far as one can be made without solving its patterns. */
export function generateValidValue(schemaNode: Node, context: ValueContext, field = '', depth = 0): unknown {
  const { random, deref } = context;
  const schema = mergeAllOf(schemaNode, deref);
  if (schema === true || schema === undefined) return random.pick([1, 'x', { a: 1 }, [1], true, null]);
  if ('const' in schema) return schema.const;
  if (schema.enum) return random.pick(schema.enum);
  const edge = random.chance(context.edge) ? generateEdgeValue(schema, context, field, depth) : undefined;
  if (edge !== undefined) return edge;
  const referred = context.reference(field);
  if (referred !== undefined && random.chance(0.7) && allowsType(schema, 'string')) return referred;
  const examples = [...(schema.examples ?? []), ...('example' in schema ? [schema.example] : [])];
  if (examples.length && random.chance(0.4)) return replaceHosts(random.pick(examples));
  const alternatives = schema.oneOf ?? schema.anyOf;
  if (alternatives) {
    const chosen = mergeAllOf(random.pick(alternatives), deref);
    return generateValidValue({ ...schema, oneOf: undefined, anyOf: undefined, ...chosen }, context, field, depth);
  }
  const types = [schema.type ?? (schema.properties ? 'object' : undefined)].flat().filter(Boolean);
  const type = types.length > 1 && random.chance(0.85) ? random.pick(types.filter((one) => one !== 'null')) : types[0];
  switch (type) {
    case 'null':
      return null;
    case 'boolean':
      return random.chance(0.5);
    case 'integer':
      return Math.round(generateNumber(schema, random));
    case 'number':
      return generateNumber(schema, random);
    case 'array':
      return buildArray(schema, context, field, depth);
    case 'object':
      return buildObject(schema, context, depth);
    case 'string':
      return buildString(schema, random, field);
    default:
      return random.pick([1, 'x', { a: 1 }, [1], true, null]);
  }
}

/** At a bound of the schema, or one beyond; undefined where it has none that is worth a try. */
function generateEdgeValue(schema: Node, context: ValueContext, field: string, depth: number): unknown {
  const { random } = context;
  if (allowsType(schema, 'string') && schema.type !== undefined) {
    if (/^date/.test(schema.format ?? '')) return random.pick(DATES);
    const length = Math.min(schema.maxLength ?? 10_000, EDGE_CHARS) + random.int(2);
    const unit = random.pick(UNITS);
    return unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
  }
  if (allowsType(schema, 'integer') || schema.type === 'number') {
    const { minimum = 0, maximum = 2 ** 31 - 1 } = schema;
    return random.pick([
      minimum - 1,
      minimum,
      minimum + 0.5,
      maximum,
      maximum + 1,
      String(maximum),
      ...HOSTILE_NUMBERS,
    ]);
  }
  if (schema.type === 'array') {
    const item = generateValidValue(schema.items, { ...context, edge: 0 }, field.replace(/s$/, ''), depth + 1);
    return new Array(Math.min(schema.maxItems ?? EDGE_ITEMS, EDGE_ITEMS) + random.int(2)).fill(item);
  }
  return undefined;
}

function mergeAllOf(node: Node, deref: ValueContext['deref']): Node {
  const schema = deref(node);
  if (!schema?.allOf) return schema;
  const whole = {
    ...schema,
    allOf: undefined,
    properties: { ...schema.properties },
    required: [...(schema.required ?? [])],
  };
  for (const part of schema.allOf) {
    const { properties, required, ...rest } = mergeAllOf(part, deref);
    Object.assign(whole, rest);
    Object.assign(whole.properties, properties);
    whole.required.push(...(required ?? []));
  }
  return whole;
}

const allowsType = (schema: Node, type: string) => schema.type === undefined || [schema.type].flat().includes(type);

function generateNumber(schema: Node, random: Random): number {
  const low = schema.minimum ?? schema.exclusiveMinimum ?? 0;
  const high = schema.maximum ?? schema.exclusiveMaximum ?? Math.max(low, 1) * 100;
  return random.pick([low, high, low + random.next() * (high - low)]);
}

function buildArray(schema: Node, context: ValueContext, field: string, depth: number): unknown[] {
  if (depth > DEPTH_MAX) return [];
  const least = schema.minItems ?? 0;
  const length = Math.min(schema.maxItems ?? 4, Math.max(least, context.random.int(4)));
  // `worker_ids` holds what `worker_id` names.
  return Array.from({ length }, () => generateValidValue(schema.items, context, field.replace(/s$/, ''), depth + 1));
}

function buildObject(schema: Node, context: ValueContext, depth: number): Record<string, unknown> {
  const required = new Set(schema.required ?? []);
  const fields = Object.entries<Node>(schema.properties ?? {}).filter(
    ([name]) => required.has(name) || (depth <= DEPTH_MAX && context.random.chance(0.35)),
  );
  const made = Object.fromEntries(
    fields.map(([name, one]) => [name, generateValidValue(one, context, name, depth + 1)]),
  );
  const free = schema.additionalProperties;
  if (free && free !== true && context.random.chance(0.5))
    made.key = generateValidValue(free, context, 'key', depth + 1);
  return made;
}

function buildString(schema: Node, random: Random, field: string): string {
  if (schema.format === 'date-time') return '2026-01-01T00:00:00.000Z';
  if (schema.format === 'date') return '2026-01-01';
  if (schema.format === 'email' || field === 'email') return `somebody${random.int(50)}@example.invalid`;
  if (schema.format === 'uri' || /url$/i.test(field)) return random.pick(URLS);
  const { pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema;
  const fits = (text: string) => text.length >= minLength && text.length <= maxLength;
  const matches = pattern ? new RegExp(pattern, 'u') : /(?:)/;
  const candidates = [...PLAIN_STRINGS, `thing-${random.int(1_000)}`, 'x'.repeat(Math.min(minLength, LONG_CHARS))];
  const good = random.shuffled(candidates).find((text) => fits(text) && matches.test(text));
  return good ?? 'x'.repeat(Math.max(1, Math.min(minLength, LONG_CHARS)));
}

/** Examples name hosts of other people. */
function replaceHosts(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text === undefined ? value : JSON.parse(text.replace(/(https?:\/\/)[\w.-]+/g, '$1hooks.example.invalid'));
}

/** The same with something hostile at one place of it. */
export function mutateValue(value: unknown, random: Random): unknown {
  if (value === null || typeof value !== 'object' || random.chance(0.15)) return generateHostileValue(random);
  if (Array.isArray(value)) {
    if (value.length === 0 || random.chance(0.3)) {
      return random.pick([
        [...value, generateHostileValue(random)],
        [...value, ...value, ...value],
        new Array(300).fill(value[0] ?? 1),
      ]);
    }
    const at = random.int(value.length);
    return value.map((item, i) => (i === at ? mutateValue(item, random) : item));
  }
  const entries = Object.entries(value);
  if (entries.length === 0 || random.chance(0.15)) {
    const key = random.pick([
      '__proto__',
      'constructor',
      'extra',
      '',
      'a'.repeat(300),
      '\0',
      'toString',
      ...entries.map(([name]) => name.toUpperCase()),
    ]);
    return Object.fromEntries([...entries, [key, generateHostileValue(random)]]);
  }
  const at = random.int(entries.length);
  if (random.chance(0.15)) return Object.fromEntries(entries.filter((_, i) => i !== at));
  return Object.fromEntries(entries.map(([key, item], i) => [key, i === at ? mutateValue(item, random) : item]));
}
