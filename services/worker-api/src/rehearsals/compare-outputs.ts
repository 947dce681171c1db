/**
 * Compares two outputs of a worker as JSON: the order of an object's keys does not matter, numbers are equal or not.
 */
import type { SurfaceSchemas } from '@gantry/openapi';

/** `path`: JSON pointer (RFC 6901). */
export type Difference = SurfaceSchemas<'worker'>['CaseDifference'];

const DIFFERENCES_MAX = 50;
const VALUE_CHARS_MAX = 500;
const PATH_CHARS_MAX = 500;

type Container = unknown[] | Record<string, unknown>;

/** Two containers of one kind, and the keys that are still to be compared. */
interface Frame {
  path: string;
  was: Container;
  now: Container;
  keys: Iterator<string | number>;
}

/** Stands for a key that is not there: null is a value. */
const ABSENT = Symbol('absent');

/**
 * @param before what was recorded
 * @returns at most 50 differences, in the order of the recorded output, what was added last; empty: they are equal
 */
export function compareOutputs(before: unknown, after: unknown): Difference[] {
  const found: Difference[] = [];
  // Outputs nest arbitrarily deep, so pending containers are kept here and not on the call stack.
  const pendingFrames: Frame[] = [];
  const compare = (path: string, one: unknown, other: unknown) => {
    if ((Array.isArray(one) && Array.isArray(other)) || (isObject(one) && isObject(other))) {
      pendingFrames.push({ path, was: one, now: other, keys: listKeys(one, other) });
    } else if (one !== other) found.push(toDifference(path, one, other));
  };
  compare('', before, after);
  for (let frame = pendingFrames.at(-1); frame && found.length < DIFFERENCES_MAX; frame = pendingFrames.at(-1)) {
    const { value: key, done } = frame.keys.next();
    if (done) pendingFrames.pop();
    else {
      const [one, other] = [getMember(frame.was, key), getMember(frame.now, key)];
      if (one !== other) compare(`${frame.path}/${escapePointer(key)}`, one, other);
    }
  }
  return found;
}

/** Yields the keys of the recorded output in its order, then added ones. */
function* listKeys(before: Container, after: Container): Generator<string | number> {
  if (Array.isArray(before)) {
    const length = Math.max(before.length, (after as unknown[]).length);
    for (let index = 0; index < length; index++) yield index;
    return;
  }
  for (const key in before) yield key;
  for (const key in after) if (!Object.hasOwn(before, key)) yield key;
}

const getMember = (container: Container, key: string | number): unknown =>
  Object.hasOwn(container, key) ? container[key as keyof Container] : ABSENT;

export const escapePointer = (key: string | number): string => String(key).replaceAll('~', '~0').replaceAll('/', '~1');

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function toDifference(path: string, before: unknown, after: unknown): Difference {
  const change = before === ABSENT ? 'added' : after === ABSENT ? 'removed' : 'changed';
  return {
    path: truncateText(path, PATH_CHARS_MAX),
    change,
    was: before === ABSENT ? null : formatJson(before, VALUE_CHARS_MAX),
    now: after === ABSENT ? null : formatJson(after, VALUE_CHARS_MAX),
  };
}

/** Formats JSON for people, with a mark where it was cut. */
export const formatJson = (value: unknown, charsMax: number): string =>
  truncateText(JSON.stringify(value ?? null), charsMax);

/** Truncates without an unpaired surrogate at the cut, and replaces NUL, which text columns cannot store. */
export function truncateText(text: string, charsMax: number): string {
  const clean = Buffer.from(text.replaceAll('\0', '\ufffd')).toString();
  return clean.length <= charsMax ? clean : `${Buffer.from(clean.slice(0, charsMax - 1)).toString()}…`;
}
