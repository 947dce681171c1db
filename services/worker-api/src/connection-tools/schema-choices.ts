/** Values of `enum` and `const`, indexed so that looking for one does not compare it with each. */

const LISTED_CHARS_MAX = 300;

export interface Choices {
  keys: Set<string>;
  hasComposite: boolean;
  /** For sentences: the first of them. */
  listed: string;
}

export function indexChoices(values: unknown[]): Choices {
  let listed = '';
  for (const one of values) {
    if (listed.length >= LISTED_CHARS_MAX) break;
    listed += `${listed && ', '}${JSON.stringify(one)}`;
  }
  return {
    keys: new Set(values.map(canonicalJson)),
    hasComposite: values.some(isComposite),
    listed: listed.slice(0, LISTED_CHARS_MAX),
  };
}

/** Canonical texts of lists and objects that were looked for before: many schemas may look for the same one. */
export type KnownTexts = Map<object, string>;

/** @returns also how many characters had to be written for it */
export function isAmongChoices(
  { keys, hasComposite }: Choices,
  value: unknown,
  known: KnownTexts,
): { isAmong: boolean; chars: number } {
  if (!isComposite(value)) {
    const key = canonicalJson(value);
    // Written as fast as it is copied.
    return { isAmong: keys.has(key), chars: Math.floor(key.length / 32) };
  }
  if (!hasComposite) return { isAmong: false, chars: 0 };
  const present = known.get(value);
  const key = present ?? canonicalJson(value);
  known.set(value, key);
  return { isAmong: keys.has(key), chars: present === undefined ? key.length : 0 };
}

/** The same text for values that JSON Schema calls equal. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) => {
    if (!isComposite(one) || Array.isArray(one)) return one;
    const sorted: [string, unknown][] = Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(sorted);
  });
}

const isComposite = (value: unknown): value is object => typeof value === 'object' && value !== null;
