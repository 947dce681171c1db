/** Lists that are read from a row onwards: `before_created_at` and `before_id` of the last one that was seen. */
import { invalid, linkTo } from '@gantry/http';
import type { Request, Response } from 'express';
import { queryDate } from './query-date';

export interface PageCursor {
  /** Of an approval, when it was requested. */
  createdAt: Date;
  id: string;
}

/** The moment that a list is ordered by, as the API names it. */
type Moment = 'created_at' | 'requested_at';

/** The OpenAPI file has checked both. @throws AppError 400 for half a cursor */
export function cursorOf({ query }: Request, moment: Moment = 'created_at'): PageCursor | undefined {
  const name = `before_${moment}`;
  const createdAt = queryDate(query[name], name);
  const id = query.before_id as string | undefined;
  if (createdAt === undefined && id === undefined) return undefined;
  if (createdAt === undefined || id === undefined) {
    const path = createdAt === undefined ? name : 'before_id';
    throw invalid([{ path, message: `${name} and before_id go together` }]);
  }
  return { createdAt, id };
}

/**
 * Tells the caller whether there is more, and where.
 * @param rows one more than the page holds, if there are more
 * @returns the rows of the page
 */
export function linkNext<Row extends PageCursor>(req: Request, res: Response, rows: Row[], limit: number): Row[] {
  const page = rows.slice(0, limit);
  linkFrom(req, res, rows.length > limit ? page.at(-1) : null);
  return page;
}

/** @param next where the next page begins; null on the last */
export function linkFrom(
  req: Request,
  res: Response,
  next: PageCursor | null | undefined,
  moment: Moment = 'created_at',
): void {
  res.set('X-Has-More', String(Boolean(next)));
  if (!next) return;
  // offset and count belong to the first page: the next begins behind the rows that were passed by, and needs no second count.
  const behind = { [`before_${moment}`]: next.createdAt.toISOString(), before_id: next.id };
  linkTo(req, res, { offset: null, count: null, ...behind });
}
