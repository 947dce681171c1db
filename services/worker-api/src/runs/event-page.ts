/** Paginates the events of a run by the sequence number of the last event on a page. */
import { buildNextLink } from '@gantry/http';
import type { Request } from 'express';

interface EventPage<T> {
  page: T[];
  headers: Record<string, string>;
}

/**
 * @param events in order of their sequence numbers; read no further than the page needs
 * @param size limits a page whose events may be large; by default only `limit` does
 */
export async function paginateEvents<T extends { seq: number }>(
  events: AsyncIterable<T>,
  isMatch: (event: T) => boolean,
  { req, query }: { req: Request; query: { limit: number; offset: number } },
  size?: { maxChars: number; countChars: (event: T) => number },
): Promise<EventPage<T>> {
  const { limit, offset } = query;
  const page: T[] = [];
  let toSkip = offset;
  let charsLeft = size?.maxChars ?? Number.POSITIVE_INFINITY;
  let hasMore = false;
  for await (const event of events) {
    if (!isMatch(event) || toSkip-- > 0) continue;
    hasMore = page.length === limit || charsLeft < 0;
    if (hasMore) break;
    page.push(event);
    charsLeft -= size?.countChars(event) ?? 0;
  }
  return { page, headers: buildAfterHeaders(req, hasMore ? page.at(-1)?.seq : undefined) };
}

/** Builds the headers that announce a next page. @param after the last number of this page; undefined on the last one */
export const buildAfterHeaders = (req: Request, after: number | undefined): Record<string, string> => ({
  'X-Has-More': String(after !== undefined),
  ...(after !== undefined && { 'X-Next-After': String(after), ...buildNextLink(req, { after, offset: null }) }),
});
