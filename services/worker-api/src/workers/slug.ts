/** The ids of workers and contexts: readable, made of their names, unique in a workspace. */
import { randomInt } from 'node:crypto';

export const SLUG = /^[a-z0-9][a-z0-9-]{1,62}[a-z0-9]$/;

const CHARS_MAX = 64;
const SUFFIX_CHARS = 6;
/** Words that stand in the place of an id in a path. */
const RESERVED = new Set(['inspect', 'new', 'tags']);

export const isReserved = (slug: string): boolean => RESERVED.has(slug);

/** A slug of the name; `otherwise` where nothing of it can be in one. */
export function toSlug(name: string, fallback: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, CHARS_MAX - SUFFIX_CHARS - 1)
    .replace(/^-+|(?<!-)-+$/g, '');
  if (plain.length >= 3 && !isReserved(plain)) return plain;
  return plain ? `${fallback}-${plain}` : fallback;
}

/**
 * The slug itself, then with a number, then with something random: the first that is free.
 * @param taken slugs that begin with it
 * @param tries how many came to be taken while they were being used
 */
export function findFreeSlug(slug: string, taken: Set<string>, tries: number): string {
  if (tries > 2)
    return `${slug}-${randomInt(36 ** SUFFIX_CHARS)
      .toString(36)
      .padStart(SUFFIX_CHARS, '0')}`;
  if (!taken.has(slug)) return slug;
  let number = 2;
  while (taken.has(`${slug}-${number}`)) number++;
  return `${slug}-${number}`;
}
