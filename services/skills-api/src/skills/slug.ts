/** The id of a skill or library in every address: `^[a-z0-9][a-z0-9-]{1,62}[a-z0-9]$`. */
import { randomInt } from 'node:crypto';

export const SLUG = /^[a-z0-9][a-z0-9-]{1,62}[a-z0-9]$/;

const LENGTH_MIN = 3;
/** Leaves room for a suffix. */
const DERIVED_LENGTH_MAX = 56;
const SUFFIX_LENGTH = 6;
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789';

/** Words that stand, or may one day stand, for something else in an address. */
const RESERVED_SLUGS = new Set(
  `about account admin api api-keys assets auth constructor deleted docs edit feed health healthz help index install
  latest legal libraries library login logout new null page pages private prototype public root robots saved search
  settings setup share shared sign-in sign-out sitemap skill skills starter static status storage system tags
  undefined unlisted user users versions well-known workspace`.split(/\s+/),
);

export const isReserved = (slug: string): boolean => RESERVED_SLUGS.has(slug);

/**
 * From a title of any script. What has no letter or digit of the Latin alphabet (emoji, Arabic, Chinese) gets a random
 * name.
 * @param noun what is named: `skill` or `library`
 */
export function deriveSlug(title: string, noun: string): string {
  const words = title
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/ß/g, 'ss')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, DERIVED_LENGTH_MAX)
    .replace(/^-+|(?<!-)-+$/g, '');
  if (!words) return appendRandomSuffix(noun);
  return words.length < LENGTH_MIN || isReserved(words) ? `${words}-${noun}` : words;
}

const ATTEMPTS_MAX = 5;

/**
 * Inserts a row under a slug derived from its title, which gets a suffix while it is taken. Concurrent requests with the
 * same title meet at the unique index.
 * @param insert false if the slug is taken @returns the slug
 */
export async function insertUnderDerivedSlug(
  derivedSlug: string,
  insert: (slug: string) => Promise<boolean>,
): Promise<string> {
  let slug = derivedSlug;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    if (await insert(slug)) return slug;
    slug = appendRandomSuffix(derivedSlug);
  }
  throw new Error(`no free slug found for "${derivedSlug}" after ${ATTEMPTS_MAX} attempts`);
}

/** Another slug for the same title: 32^6 possibilities. */
export function appendRandomSuffix(slug: string): string {
  const suffix = Array.from({ length: SUFFIX_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return `${slug.slice(0, DERIVED_LENGTH_MAX).replace(/(?<!-)-+$/, '')}-${suffix}`;
}
