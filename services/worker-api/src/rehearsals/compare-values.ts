/**
 * Values of JSON against each other. Recursion is as deep as the expected value, which is bounded when it is written.
 */

import { escapePointer, isObject } from './compare-outputs';
import { includesText } from './includes-text';

const QUOTED_CHARS_MAX = 200;

type JsonObject = Record<string, unknown>;

/**
 * @param tolerance numbers may be off by it
 * @param name of the actual value, in the words
 * @returns the first difference in words; null: none
 */
export function describeDifference(expected: unknown, actual: unknown, tolerance: number, name: string): string | null {
  const found = findDifference(expected, actual, tolerance);
  return found && formatDifference(found, name);
}

interface Difference {
  /** Keys that lead to it, the last one first. Texts are built for the one that is shown, since paths may be long. */
  path: string[];
  /** @param name of the value there */
  format(name: string): string;
}

function formatDifference({ path, format }: Difference, name: string): string {
  const below = path.map((key) => `/${escapePointer(key).slice(0, QUOTED_CHARS_MAX)}`).reverse();
  return format(below.length ? getKeyName(name) + below.join('') : name);
}

function findDifference(expected: unknown, actual: unknown, tolerance: number): Difference | null {
  if (typeof expected === 'number' && typeof actual === 'number') {
    const isNear = Math.abs(expected - actual) <= tolerance;
    return isNear ? null : createRootDifference((name) => `${name} is ${actual}, not ${expected}`);
  }
  if (Array.isArray(expected) && Array.isArray(actual)) {
    const { length } = actual;
    if (expected.length !== length)
      return createRootDifference((name) => `${name} has ${length} items, not ${expected.length}`);
    for (const [at, one] of expected.entries()) {
      const found = findDifference(one, actual[at], tolerance);
      if (found) return prefixDifference(found, String(at));
    }
    return null;
  }
  if (isObject(expected) && isObject(actual)) {
    const strange = Object.keys(actual).find((key) => !Object.hasOwn(expected, key));
    if (strange !== undefined) return prefixDifference(IS_NOT_EXPECTED, strange);
    return findPropertyDifference(expected, actual, (one, other) => findDifference(one, other, tolerance));
  }
  return expected === actual
    ? null
    : createRootDifference((name) => `${name} is ${quote(actual)}, not ${quote(expected)}`);
}

const createRootDifference = (format: Difference['format']): Difference => ({ path: [], format });

const prefixDifference = ({ path, format }: Difference, key: string): Difference => ({ path: [...path, key], format });

const IS_NOT_EXPECTED = createRootDifference((name) => `${name} is unexpected`);
const IS_MISSING = createRootDifference((name) => `${name} is missing`);

/** @returns in words why it does not contain the value; null: it does */
export function describeMissing(actual: unknown, value: unknown, ignoreCase: boolean, name: string): string | null {
  const found = findMissingPart(actual, value, ignoreCase);
  return found && formatDifference(found, name);
}

function findMissingPart(actual: unknown, value: unknown, ignoreCase: boolean): Difference | null {
  if (typeof actual === 'string') {
    const foldCase = (text: string) => (ignoreCase ? text.toLowerCase() : text);
    const isThere = typeof value === 'string' && includesText(foldCase(actual), foldCase(value));
    return isThere
      ? null
      : createRootDifference((name) => `${name} does not contain ${quote(value)}: it is ${quote(actual)}`);
  }
  if (Array.isArray(actual)) {
    const isItem = createEqualityCheck(value);
    return actual.some(isItem) ? null : createRootDifference((name) => `${name} has no item equal to ${quote(value)}`);
  }
  if (isObject(actual) && isObject(value)) {
    return findPropertyDifference(value, actual, (wanted, found) =>
      isObject(wanted) && isObject(found)
        ? findMissingPart(found, wanted, ignoreCase)
        : findDifference(wanted, found, 0),
    );
  }
  return createRootDifference((name) => `${name} is ${quote(actual)}, which cannot contain ${quote(value)}`);
}

function findPropertyDifference(
  expected: JsonObject,
  actual: JsonObject,
  compare: (expected: unknown, actual: unknown) => Difference | null,
): Difference | null {
  for (const key of Object.keys(expected)) {
    const found = Object.hasOwn(actual, key) ? compare(expected[key], actual[key]) : IS_MISSING;
    if (found) return prefixDifference(found, key);
  }
  return null;
}

/**
 * Compares many values with one, each in time linear in its own size: what has other numbers of members is not looked
 * into.
 */
function createEqualityCheck(expected: unknown): (actual: unknown) => boolean {
  const keysByObject = new Map<JsonObject, string[]>();
  const isEqual = (one: unknown, other: unknown): boolean => {
    if (Array.isArray(one) && Array.isArray(other)) {
      return one.length === other.length && other.every((item, at) => isEqual(one[at], item));
    }
    if (!isObject(one) || !isObject(other)) return one === other;
    const keys = keysByObject.get(one) ?? Object.keys(one);
    keysByObject.set(one, keys);
    if (Object.keys(other).length !== keys.length) return false;
    return keys.every((key) => Object.hasOwn(other, key) && isEqual(one[key], other[key]));
  };
  return (actual) => isEqual(expected, actual);
}

export const WHOLE = 'the output';
const getKeyName = (name: string): string => (name === WHOLE ? '' : name);

/** The part of a value that a JSON pointer names. */
export function resolvePointer(value: unknown, pointer: string): { value: unknown } | null {
  let part = value;
  for (const escaped of pointer.split('/').slice(1)) {
    const key = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    if (!isObject(part) && !Array.isArray(part)) return null;
    if (Array.isArray(part) && !/^(0|[1-9][0-9]{0,8})$/.test(key)) return null;
    if (!Object.hasOwn(part, key)) return null;
    part = (part as JsonObject)[key];
  }
  return { value: part };
}

/** As JSON, shortened. A run may have returned a value that is too deep for that. */
export function quote(value: unknown): string {
  const json = toBoundedJson(value);
  if (json === null) return 'a value nested too deeply to show';
  return json.length > QUOTED_CHARS_MAX ? `${json.slice(0, QUOTED_CHARS_MAX)}…` : json;
}

/** The beginning of a value as JSON, and how many characters there are in all. */
export interface TruncatedJson {
  json: string;
  chars: number;
}

export function truncateJson(value: unknown, charsMax: number): TruncatedJson {
  const json = toBoundedJson(value) ?? '(nested too deeply to show)';
  return { json: json.slice(0, charsMax), chars: json.length };
}

/** Null: it is nested too deep. */
export function toBoundedJson(value: unknown): string | null {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (err) {
    if (err instanceof RangeError) return null;
    throw err;
  }
}
