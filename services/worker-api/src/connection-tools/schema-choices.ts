/** Indexes values of `enum` and `const`, so that a lookup does not compare with each. */
import { toCanonicalJson } from '../file-trees/canonical-json';

const LISTED_CHARS_MAX = 300;

export interface Choices {
  keys: Set<string>;
  hasComposite: boolean;
  /** For messages: the first of them. */
  listed: string;
}

export function indexChoices(values: unknown[]): Choices {
  let listed = '';
  for (const one of values) {
    if (listed.length >= LISTED_CHARS_MAX) break;
    listed += `${listed && ', '}${JSON.stringify(one)}`;
  }
  return {
    keys: new Set(values.map(toCanonicalJson)),
    hasComposite: values.some(isComposite),
    listed: listed.slice(0, LISTED_CHARS_MAX),
  };
}

/** Cached canonical texts of lists and objects: many schemas may look up the same value. */
export type KnownTexts = Map<object, string>;

/** @returns also the number of serialized characters */
export function findChoice(
  { keys, hasComposite }: Choices,
  value: unknown,
  known: KnownTexts,
): { isAmong: boolean; chars: number } {
  if (!isComposite(value)) {
    const key = toCanonicalJson(value);
    // Serialized as fast as it is copied.
    return { isAmong: keys.has(key), chars: Math.floor(key.length / 32) };
  }
  if (!hasComposite) return { isAmong: false, chars: 0 };
  const present = known.get(value);
  const key = present ?? toCanonicalJson(value);
  known.set(value, key);
  return { isAmong: keys.has(key), chars: present === undefined ? key.length : 0 };
}

const isComposite = (value: unknown): value is object => typeof value === 'object' && value !== null;
