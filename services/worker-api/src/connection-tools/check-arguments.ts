/**
 * Arguments of a tool against its input schema, which may be a stranger's: interpreted in a bounded number of steps, and not compiled.
 * Patterns, formats and references are left to the other side.
 */
import { isDeepStrictEqual } from 'node:util';

const STEPS_MAX = 10_000;
const FIT_STEPS_MAX = 100_000;
const PROBLEMS_MAX = 5;

type Schema = Record<string, unknown>;

/** @returns what is wrong, in words that name the argument; empty: nothing that could be found */
export function argumentProblems(schema: Schema, given: Record<string, unknown>): string[] {
  return schemaProblems(schema, given, 'the arguments');
}

/** @param whole what the value is called where no part of it is meant */
export function schemaProblems(schema: Schema, value: unknown, whole: string): string[] {
  return problemsOf(schema, value, '', { steps: STEPS_MAX, whole }).slice(0, PROBLEMS_MAX);
}

/** For whoever must not take a value for one that fits only because it is large. */
export function fitProblems(schema: Schema, value: unknown, whole: string): string[] {
  const budget = { steps: FIT_STEPS_MAX, whole };
  const problems = problemsOf(schema, value, '', budget).slice(0, PROBLEMS_MAX);
  return budget.steps < 0 ? [...problems, `${whole} is too large to be checked`] : problems;
}

interface Budget {
  /** Below 0: something was not looked at. */
  steps: number;
  whole: string;
}

function problemsOf(schema: unknown, value: unknown, path: string, budget: Budget): string[] {
  if (!isObject(schema) || '$ref' in schema || budget.steps-- <= 0) return [];
  const name = path || budget.whole;
  const { type, enum: allowed, const: only } = schema;
  const types = (Array.isArray(type) ? type : [type]).filter((one): one is string => typeof one === 'string');
  if (types.length && !types.some((one) => isOfType(one, value)))
    return [`${name} must be of type ${types.join(' or ')}`];
  if (Array.isArray(allowed) && !allowed.some((one) => isDeepStrictEqual(one, value))) {
    return [`${name} must be one of ${JSON.stringify(allowed).slice(0, 300)}`];
  }
  if ('const' in schema && !isDeepStrictEqual(only, value))
    return [`${name} must be ${JSON.stringify(only).slice(0, 100)}`];
  for (const key of ['anyOf', 'oneOf']) {
    const choices = schema[key];
    if (!Array.isArray(choices) || !choices.length) continue;
    const found = choices.map((one) => problemsOf(one, value, path, budget));
    if (found.every((problems) => problems.length)) return found[0] ?? [];
  }
  if (typeof value === 'number') return outOfBounds(schema, value, name);
  if (typeof value === 'string') return wrongLength(schema, [...value].length, 'Length', `the length of ${name}`);
  if (Array.isArray(value)) {
    const items = value.flatMap((one, at) => problemsOf(schema.items, one, `${path}[${at}]`, budget));
    return [...wrongLength(schema, value.length, 'Items', `the number of items of ${name}`), ...items];
  }
  return isObject(value) ? problemsOfObject(schema, value, path, budget) : [];
}

function problemsOfObject(schema: Schema, value: Schema, path: string, budget: Budget): string[] {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const at = (key: string) => (path ? `${path}.${key}` : key);
  const required = Array.isArray(schema.required) ? schema.required.filter((key) => typeof key === 'string') : [];
  const missing = required.filter((key) => !Object.hasOwn(value, key)).map((key) => `${at(key)} is required`);
  const isClosed = schema.additionalProperties === false && !('patternProperties' in schema);
  const others = Object.entries(value).flatMap(([key, one]) => {
    if (Object.hasOwn(properties, key)) return problemsOf(properties[key], one, at(key), budget);
    return isClosed
      ? [`${at(key)} is unknown; there are ${Object.keys(properties).join(', ').slice(0, 300) || 'none'}`]
      : [];
  });
  return [...missing, ...others];
}

function outOfBounds({ minimum, maximum }: Schema, value: number, name: string): string[] {
  if (typeof minimum === 'number' && value < minimum) return [`${name} must be at least ${minimum}`];
  return typeof maximum === 'number' && value > maximum ? [`${name} must be at most ${maximum}`] : [];
}

function wrongLength(schema: Schema, length: number, of: 'Length' | 'Items', what: string): string[] {
  const { [`min${of}`]: least, [`max${of}`]: most } = schema;
  if (typeof least === 'number' && length < least) return [`${what} must be at least ${least}`];
  return typeof most === 'number' && length > most ? [`${what} must be at most ${most}`] : [];
}

function isOfType(type: string, value: unknown): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isObject(value);
  if (type === 'integer') return Number.isInteger(value);
  const kind: string = typeof value;
  return kind === type || !['string', 'number', 'boolean'].includes(type);
}

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
