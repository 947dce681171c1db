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

/** @returns also how many characters had to be written for it */
export function isAmongChoices({ keys, hasComposite }: Choices, value: unknown): { isAmong: boolean; chars: number } {
  if (isComposite(value) && !hasComposite) return { isAmong: false, chars: 0 };
  const key = canonicalJson(value);
  return { isAmong: keys.has(key), chars: key.length };
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
