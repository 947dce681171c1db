/** Pages of what a run's events tell: each goes on behind the number of the last event that was shown. */
import { linkTo } from '@gantry/http';
import type { Request } from 'express';

interface EventPage<T> {
  page: T[];
  headers: Record<string, string>;
}

/**
 * @param all in the order of their numbers; read no further than the page needs
 * @param size bounds a page whose events may be large; default: the limit alone does
 */
export async function eventPage<T extends { seq: number }>(
  all: AsyncIterable<T>,
  matches: (event: T) => boolean,
  { req, query }: { req: Request; query: { limit: number; offset: number } },
  size?: { maxChars: number; countChars: (event: T) => number },
): Promise<EventPage<T>> {
  const { limit, offset } = query;
  const page: T[] = [];
  let toSkip = offset;
  let charsLeft = size?.maxChars ?? Number.POSITIVE_INFINITY;
  let isMore = false;
  for await (const event of all) {
    if (!matches(event) || toSkip-- > 0) continue;
    isMore = page.length === limit || charsLeft < 0;
    if (isMore) break;
    page.push(event);
    charsLeft -= size?.countChars(event) ?? 0;
  }
  const after = isMore ? (page.at(-1)?.seq ?? null) : null;
  const next = after !== null && { 'X-Next-After': String(after), ...linkTo(req, { after, offset: null }) };
  return { page, headers: { 'X-Has-More': String(after !== null), ...next } };
}
