/** The bodies of each operation whose check costs the most, made from its schema. */
import type { Operation, Schema } from '@gantry/http';
import { COSTLY_BODY_PARTS } from './costly-bodies';

export interface WorstBody {
  what: string;
  /** JSON, or what should be. */
  text: string;
}

const BYTES = 1024 * 1024 - 1_000;
const PATTERN_CHARS_MAX = 10;

/** Place in a body; a number is a position in a list. */
type SchemaLocation = { path: (string | number)[]; schema: Schema };

export interface SeenBodies {
  /** Holds patterns, whole bodies, and parts that another operation has in the same place. */
  has(what: string): boolean;
  add(what: string): void;
}

/**
 * @param valid a body that passes, for whatever is checked after what comes first; undefined where none is known
 * @param seen what needs no second look at another operation
 */
export function buildWorstBodies(
  operation: Operation,
  schemas: Record<string, Schema>,
  valid: unknown,
  seen: SeenBodies = new Set(),
): WorstBody[] {
  const root = operation.body?.content['application/json'];
  if (!root) return [];
  const whole = resolveSchema(root, schemas);
  const isAnything = whole.type === undefined;
  const bodies = isAnything || !seen.has('whole') ? buildWholeBodies() : [];
  seen.add('whole');
  bodies.push(...buildExtendedBodies(valid));
  for (const [what, part] of COSTLY_BODY_PARTS[operation.id] ?? [])
    bodies.push({ what, text: replacePart(valid, [], part) });
  for (const place of listSchemaLocations(whole, schemas)) {
    const at = `at ${place.path.join('.') || 'the top'}`;
    // POST, PUT and PATCH of one thing share the parts of their schemas, and the code that looks at them.
    const rule = `${at}: ${JSON.stringify(place.schema)}`;
    if (place.path.length && seen.has(rule)) continue;
    seen.add(rule);
    for (const [what, part] of generateWorstParts(place.schema, schemas, seen)) {
      bodies.push({ what: `${what} ${at}`, text: replacePart(valid, place.path, part) });
    }
  }
  return bodies.filter(({ text }) => text.length <= BYTES + 1_000);
}

function buildWholeBodies(): WorstBody[] {
  return [
    { what: 'lists in lists', text: '['.repeat(BYTES / 2) + ']'.repeat(BYTES / 2) },
    { what: 'objects in objects', text: `${'{"a":'.repeat(BYTES / 6)}1${'}'.repeat(BYTES / 6)}` },
    { what: 'numbers', text: `[${'0,'.repeat(BYTES / 2)}0]` },
    { what: 'empty objects', text: `[${'{},'.repeat(99_000)}{}]` },
    { what: 'objects', text: `[${'{"a":1},'.repeat(49_000)}{}]` },
    { what: 'a text', text: JSON.stringify(' '.repeat(BYTES)) },
    { what: 'escapes', text: `"${'\\u0020'.repeat(BYTES / 6)}"` },
    { what: 'nothing that is JSON', text: '{'.repeat(BYTES) },
  ];
}

const buildExtendedBodies = (valid: unknown): WorstBody[] => [
  { what: 'unknown names beside a valid body', text: replacePart(valid, [], buildObjectWithNames(19_000)) },
  { what: 'a long name beside a valid body', text: replacePart(valid, [], { ['k'.repeat(BYTES - 10_000)]: 1 }) },
];

const cachedNameObjects = new Map<number, object>();
/** Hundreds of places get the same: making it took a quarter of the time of the suite. */
function buildObjectWithNames(count: number): object {
  const made =
    cachedNameObjects.get(count) ??
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index.toString(36)}`, 1]));
  cachedNameObjects.set(count, made);
  return made;
}

function* generateWorstParts(
  schema: Schema,
  schemas: Record<string, Schema>,
  seen: SeenBodies,
): Generator<[string, unknown]> {
  const types = [schema.type].flat();
  if (types.includes('array')) {
    const item = buildSample(resolveSchema((schema.items ?? {}) as Schema, schemas), schemas);
    const few = Number(schema.maxItems ?? 1_000);
    const most = Math.min(90_000, Math.floor(BYTES / 2 / (JSON.stringify(item).length + 8)));
    for (const count of new Set([Math.min(few, most), most])) {
      yield [`${count} equal items`, Array(count).fill(item)];
      yield [`${count} different items`, Array.from({ length: count }, (_, index) => toDistinctItem(item, index))];
      yield [`${count} items of no type`, Array(count).fill(count > 30_000 ? 0 : {})];
    }
  }
  if (types.includes('object') || schema.type === undefined) {
    yield ['names without end', buildObjectWithNames(90_000)];
    yield ['as many names as a body may have', buildObjectWithNames(19_000)];
    yield ['as many names as it may have', buildObjectWithNames(Number(schema.maxProperties ?? 1_000))];
    yield [
      'many things in each of many',
      Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`k${i}`, buildObjectWithNames(500)])),
    ];
  }
  if (types.includes('string')) {
    const most = Math.min(Number(schema.maxLength ?? BYTES), BYTES / 2);
    for (const text of generateWorstStrings(schema, most, seen))
      yield [`${most} times ${JSON.stringify(text[0])}`, text];
  }
}

/** Long runs of each kind of character that a pattern speaks of, with an end that fits nowhere. */
function* generateWorstStrings({ pattern, format }: Schema, length: number, seen: SeenBodies): Generator<string> {
  yield 'a'.repeat(length);
  const kind = `${pattern} ${format} ${length}`;
  if (seen.has(kind) || (pattern === undefined && format === undefined)) return;
  seen.add(kind);
  const spoken = String(pattern ?? '').replace(/\\[a-z]|[\^$()[\]{}|?*+]/gi, '');
  const characters = new Set(['a', '0', ' ', '-', ...spoken]);
  for (const one of [...characters].slice(0, PATTERN_CHARS_MAX)) yield `${one.repeat(Math.max(0, length - 1))}\u0001`;
}

const toDistinctItem = (item: unknown, index: number): unknown =>
  typeof item === 'string' ? `${index}` : typeof item === 'number' ? index : { ...(item as object), [`k${index}`]: 1 };

/** Something of that shape, whether or not it is allowed. */
function buildSample(schema: Schema, schemas: Record<string, Schema>): unknown {
  const { enum: choices, examples, default: usual, properties = {} } = schema as Record<string, unknown[] | undefined>;
  const given = (choices ?? examples)?.[0] ?? usual;
  if (given !== undefined) return given;
  const [type] = [schema.type].flat();
  if (type === 'object') {
    const required = new Set((schema.required ?? []) as string[]);
    const some = Object.entries(properties as Record<string, Schema>).filter(([name]) => required.has(name));
    return Object.fromEntries(some.map(([name, one]) => [name, buildSample(resolveSchema(one, schemas), schemas)]));
  }
  if (type === 'array') return [];
  return type === 'string' ? 'a' : type === 'boolean' ? true : type === 'number' || type === 'integer' ? 1 : {};
}

function* listSchemaLocations(
  schema: Schema,
  schemas: Record<string, Schema>,
  path: SchemaLocation['path'] = [],
): Generator<SchemaLocation> {
  if (path.length > 6) return;
  yield { path, schema };
  for (const [name, child] of Object.entries((schema.properties ?? {}) as Record<string, Schema>)) {
    yield* listSchemaLocations(resolveSchema(child, schemas), schemas, [...path, name]);
  }
  if (schema.items) yield* listSchemaLocations(resolveSchema(schema.items as Schema, schemas), schemas, [...path, 0]);
  for (const word of ['anyOf', 'oneOf', 'allOf']) {
    for (const choice of (schema[word] ?? []) as Schema[])
      yield* listSchemaLocations(resolveSchema(choice, schemas), schemas, path);
  }
}

function resolveSchema(schema: Schema, schemas: Record<string, Schema>): Schema {
  const named = schemas[String(schema.$ref)];
  return named ? { ...resolveSchema(named, schemas), ...schema } : schema;
}

/** A valid body with one part exchanged; at the top, its names are added to. */
function replacePart(valid: unknown, path: SchemaLocation['path'], part: unknown): string {
  const [first] = path;
  if (first === undefined) {
    const isObject = part !== null && typeof part === 'object' && !Array.isArray(part);
    return isObject ? mergeJsonObjects(toCachedJson(valid ?? {}), toCachedJson(part)) : toCachedJson(part);
  }
  const body: Record<string, unknown> = { ...(valid as object) };
  let container: Record<string | number, unknown> = body;
  for (const [index, key] of path.entries()) {
    if (index === path.length - 1) {
      container[key] = PART_PLACEHOLDER;
      break;
    }
    const next = path[index + 1];
    const before = container[key];
    const known = typeof before === 'object' && before !== null && Array.isArray(before) === (typeof next === 'number');
    const copy = known ? structuredClone(before) : typeof next === 'number' ? [] : {};
    container[key] = copy;
    container = copy as Record<string | number, unknown>;
  }
  // Not as a pattern: `$` stands for itself.
  return JSON.stringify(body).replace(JSON.stringify(PART_PLACEHOLDER), () => toCachedJson(part));
}

/** Stands for the part until the rest is JSON. */
const PART_PLACEHOLDER = '\u0000the part';

const jsonCache = new WeakMap<object, string>();
function toCachedJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const json = jsonCache.get(value) ?? JSON.stringify(value);
  jsonCache.set(value, json);
  return json;
}

/** Two objects of JSON as one; of a name in both the latter counts, as it does for a parser. */
const mergeJsonObjects = (one: string, other: string): string =>
  one === '{}' || other === '{}' ? (one === '{}' ? other : one) : `${one.slice(0, -1)},${other.slice(1)}`;
