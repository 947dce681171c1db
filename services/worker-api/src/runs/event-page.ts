/** Paginates the events of a run by the sequence number of the last event on a page. */
import { linkTo } from '@gantry/http';
import type { Request } from 'express';

interface EventPage<T> {
  page: T[];
  headers: Record<string, string>;
}

/**
 * @param events in order of their sequence numbers; read no further than the page needs
 * @param size limits a page whose events may be large; by default only `limit` does
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
