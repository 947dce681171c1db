/** Two outputs of a worker compared as JSON: the order of an object's keys does not matter, numbers are equal or not. */

export interface Difference {
  /** JSON pointer (RFC 6901); empty: the output as a whole. */
  path: string;
  change: 'added' | 'removed' | 'changed';
  /** JSON, shortened; null where there was nothing. */
  was: string | null;
  now: string | null;
}

const DIFFERENCES_MAX = 50;
const VALUE_CHARS_MAX = 500;
const PATH_CHARS_MAX = 500;

type Pair = { path: string; was: unknown; now: unknown };

/** Stands for a key that is not there: null is a value. */
const ABSENT = Symbol('absent');

/**
 * @param was what was recorded
 * @returns at most 50 differences, in the order of the recorded output, what was added last; empty: they are equal
 */
export function compareOutputs(was: unknown, now: unknown): Difference[] {
  const found: Difference[] = [];
  // Outputs nest as deep as their authors like, so the ones to be looked at are kept here and not on the call stack.
  const left: Pair[] = [{ path: '', was, now }];
  for (let pair = left.pop(); pair && found.length < DIFFERENCES_MAX; pair = left.pop()) {
    const inside = partsOf(pair);
    // One by one: as arguments of a call, a hundred thousand of them would exceed the stack.
    if (inside) for (const one of inside.reverse()) left.push(one);
    else if (pair.was !== pair.now) found.push(differenceOf(pair));
  }
  return found;
}

/** Null for values that are not compared part by part. */
function partsOf({ path, was, now }: Pair): Pair[] | null {
  if (Array.isArray(was) && Array.isArray(now)) {
    const length = Math.max(was.length, now.length);
    return Array.from({ length }, (_, index) => ({
      path: `${path}/${index}`,
      was: index < was.length ? was[index] : ABSENT,
      now: index < now.length ? now[index] : ABSENT,
    }));
  }
  if (!isObject(was) || !isObject(now)) return null;
  return [...new Set([...Object.keys(was), ...Object.keys(now)])].map((key) => ({
    path: `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`,
    was: Object.hasOwn(was, key) ? was[key] : ABSENT,
    now: Object.hasOwn(now, key) ? now[key] : ABSENT,
  }));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function differenceOf({ path, was, now }: Pair): Difference {
  const change = was === ABSENT ? 'added' : now === ABSENT ? 'removed' : 'changed';
  return {
    path: shortened(path, PATH_CHARS_MAX),
    change,
    was: was === ABSENT ? null : shownJson(was, VALUE_CHARS_MAX),
    now: now === ABSENT ? null : shownJson(now, VALUE_CHARS_MAX),
  };
}

/** JSON for people, who see where it was cut. */
export const shownJson = (value: unknown, charsMax: number): string =>
  shortened(JSON.stringify(value ?? null), charsMax);

/** No half of a character is left at the cut, and no NUL, which columns of text don't take. */
export function shortened(text: string, charsMax: number): string {
  const clean = Buffer.from(text.replaceAll('\0', '\ufffd')).toString();
  return clean.length <= charsMax ? clean : `${Buffer.from(clean.slice(0, charsMax - 1)).toString()}…`;
}
