/** Pages of what a run's events tell: each goes on behind the number of the last event that was shown. */
import { linkTo } from '@gantry/http';
import type { Request } from 'express';

interface EventPage<T> {
  page: T[];
  headers: Record<string, string>;
}

/** @param all in the order of their numbers; read no further than the page needs */
export async function eventPage<T extends { seq: number }>(
  all: AsyncIterable<T>,
  matches: (event: T) => boolean,
  { req, query }: { req: Request; query: { limit: number; offset: number } },
): Promise<EventPage<T>> {
  const { limit, offset } = query;
  const found: T[] = [];
  let toSkip = offset;
  for await (const event of all) {
    if (!matches(event) || toSkip-- > 0) continue;
    found.push(event);
    if (found.length > limit) break;
  }
  const page = found.slice(0, limit);
  const after = found.length > limit ? (page.at(-1)?.seq ?? null) : null;
  const next = after !== null && { 'X-Next-After': String(after), ...linkTo(req, { after, offset: null }) };
  return { page, headers: { 'X-Has-More': String(after !== null), ...next } };
}
