/** Values of JSON against each other. Recursion is as deep as the expected value, which is bounded when it is written. */

const QUOTED_CHARS_MAX = 200;

type JsonObject = Record<string, unknown>;

/**
 * @param tolerance numbers may be off by it
 * @param name of the actual value, in the words
 * @returns the first difference in words; null: none
 */
export function difference(expected: unknown, actual: unknown, tolerance: number, name: string): string | null {
  if (typeof expected === 'number' && typeof actual === 'number') {
    return Math.abs(expected - actual) <= tolerance ? null : `${name} is ${actual}, not ${expected}`;
  }
  if (Array.isArray(expected) && Array.isArray(actual)) {
    if (expected.length !== actual.length) {
      return `${name} has ${actual.length} items, not ${expected.length}`;
    }
    return firstOf(expected.keys(), (at) => difference(expected[at], actual[at], tolerance, `${nameOf(name)}/${at}`));
  }
  if (isObject(expected) && isObject(actual)) {
    const strange = Object.keys(actual).find((key) => !Object.hasOwn(expected, key));
    if (strange !== undefined) return `${nameOf(name)}/${pointerPart(strange)} is not expected`;
    return missingOrDifferent(expected, actual, name, (key) =>
      difference(expected[key], actual[key], tolerance, `${nameOf(name)}/${pointerPart(key)}`),
    );
  }
  return expected === actual ? null : `${name} is ${quote(actual)}, not ${quote(expected)}`;
}

/** @returns in words why it does not contain the value; null: it does */
export function lacks(actual: unknown, value: unknown, ignoreCase: boolean, name: string): string | null {
  if (typeof actual === 'string') {
    const folded = (text: string) => (ignoreCase ? text.toLowerCase() : text);
    const isThere = typeof value === 'string' && folded(actual).includes(folded(value));
    return isThere ? null : `${name} does not contain ${quote(value)}: it is ${quote(actual)}`;
  }
  if (Array.isArray(actual)) {
    const isThere = actual.some((one) => difference(value, one, 0, '') === null);
    return isThere ? null : `${name} has no item that is ${quote(value)}`;
  }
  if (isObject(actual) && isObject(value)) {
    return missingOrDifferent(value, actual, name, (key) => {
      const below = `${nameOf(name)}/${pointerPart(key)}`;
      const [wanted, found] = [value[key], actual[key]];
      if (isObject(wanted) && isObject(found)) return lacks(found, wanted, ignoreCase, below);
      return difference(wanted, found, 0, below);
    });
  }
  return `${name} is ${quote(actual)}, which cannot contain ${quote(value)}`;
}

function missingOrDifferent(
  expected: JsonObject,
  actual: JsonObject,
  name: string,
  compare: (key: string) => string | null,
): string | null {
  return firstOf(Object.keys(expected), (key) =>
    Object.hasOwn(actual, key) ? compare(key) : `${nameOf(name)}/${pointerPart(key)} is missing`,
  );
}

function firstOf<T>(all: Iterable<T>, find: (one: T) => string | null): string | null {
  for (const one of all) {
    const found = find(one);
    if (found !== null) return found;
  }
  return null;
}

export const WHOLE = 'the output';
const nameOf = (name: string): string => (name === WHOLE ? '' : name);

/** The part of a value that a JSON pointer names. */
export function partAt(value: unknown, pointer: string): { value: unknown } | null {
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

const pointerPart = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1').slice(0, QUOTED_CHARS_MAX);

/** As JSON, shortened. A run may have returned a value that is too deep for that. */
export function quote(value: unknown): string {
  const json = jsonOf(value);
  if (json === null) return 'a value that is nested too deep to be shown';
  return json.length > QUOTED_CHARS_MAX ? `${json.slice(0, QUOTED_CHARS_MAX)}…` : json;
}

/** Null: it is nested too deep. */
export function jsonOf(value: unknown): string | null {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (err) {
    if (err instanceof RangeError) return null;
    throw err;
  }
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
