/** Cursors of paginated lists: `before_created_at` and `before_id` of the last row of a page. */
import type { Request } from 'express';
import { invalid } from './errors';
import { linkTo } from './next-page';
import { parseQueryDate } from './query-date';

export interface PageCursor {
  /** For an approval, the time of its request. */
  createdAt: Date;
  id: string;
}

/** API name of the timestamp that a list is ordered by. */
type Moment = 'created_at' | 'requested_at';

/** The OpenAPI file has checked both. @throws AppError 400 for half a cursor */
export function parsePageCursor(
  query: { [name in `before_${Moment}` | 'before_id']?: string },
  moment: Moment = 'created_at',
): PageCursor | undefined {
  const name = `before_${moment}` as const;
  const createdAt = parseQueryDate(query[name], name);
  const id = query.before_id;
  if (createdAt === undefined && id === undefined) return undefined;
  if (createdAt === undefined || id === undefined) {
    const path = createdAt === undefined ? name : 'before_id';
    throw invalid([{ path, message: `${name} and before_id go together` }]);
  }
  return { createdAt, id };
}

/** Builds the headers that announce a next page. @param next its first row; null on the last page */
export function buildNextHeaders(
  req: Request,
  next: PageCursor | null | undefined,
  moment: Moment = 'created_at',
): Record<string, string> {
  const more = { 'X-Has-More': String(Boolean(next)) };
  if (!next) return more;
  // offset and count belong to the first page: the next one starts after its rows, and needs no second count.
  const behind = { [`before_${moment}`]: next.createdAt.toISOString(), before_id: next.id };
  return { ...more, ...linkTo(req, { offset: null, count: null, ...behind }) };
}
