/** Cursors of paginated lists: `before_created_at` and `before_id` of the last row of a page. */

import { invalid } from '@gantry/errors';
import type { Request } from 'express';
import { buildNextLink } from './next-page';
import { parseQueryDate } from './query-date';

export interface PageCursor {
  /** For an approval, the time of its request. */
  createdAt: Date;
  id: string;
}

/** API name of the timestamp that a list is ordered by. */
type OrderColumn = 'created_at' | 'requested_at';

/** The OpenAPI file has checked both. @throws AppError 400 for half a cursor */
export function parsePageCursor(
  query: { [name in `before_${OrderColumn}` | 'before_id']?: string },
  orderColumn: OrderColumn = 'created_at',
): PageCursor | undefined {
  const name = `before_${orderColumn}` as const;
  const createdAt = parseQueryDate(query[name], name);
  const id = query.before_id;
  if (createdAt === undefined && id === undefined) return undefined;
  if (createdAt === undefined || id === undefined) {
    const path = createdAt === undefined ? name : 'before_id';
    throw invalid([{ path, message: `${name} and before_id must be used together` }]);
  }
  return { createdAt, id };
}

/** Builds the headers that announce a next page. @param next its first row; null on the last page */
export function buildNextHeaders(
  req: Request,
  next: PageCursor | null | undefined,
  orderColumn: OrderColumn = 'created_at',
): Record<string, string> {
  const moreHeader = { 'X-Has-More': String(Boolean(next)) };
  if (!next) return moreHeader;
  // offset and count belong to the first page: the next one starts after its rows, and needs no second count.
  const cursorParams = { [`before_${orderColumn}`]: next.createdAt.toISOString(), before_id: next.id };
  return { ...moreHeader, ...buildNextLink(req, { offset: null, count: null, ...cursorParams }) };
}
