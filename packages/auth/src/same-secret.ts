import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares two secrets in a time that reveals neither their content nor their length. */
export function isSameSecret(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
