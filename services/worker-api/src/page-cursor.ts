/** Lists that are read from a row onwards: `before_created_at` and `before_id` of the last one that was seen. */
import { invalid } from '@gantry/http';
import type { Request, Response } from 'express';
import { queryDate } from './query-date';

export interface PageCursor {
  createdAt: Date;
  id: string;
}

/** The OpenAPI file has checked both. @throws AppError 400 for half a cursor */
export function cursorOf({ query }: Request): PageCursor | undefined {
  const createdAt = queryDate(query.before_created_at, 'before_created_at');
  const id = query.before_id as string | undefined;
  if (createdAt === undefined && id === undefined) return undefined;
  if (createdAt === undefined || id === undefined) {
    const path = createdAt === undefined ? 'before_created_at' : 'before_id';
    throw invalid([{ path, message: 'before_created_at and before_id go together' }]);
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
  const last = page.at(-1);
  res.set('X-Has-More', String(rows.length > limit));
  if (rows.length > limit && last) {
    const [path, query] = req.originalUrl.split('?', 2);
    const next = new URLSearchParams(query);
    next.set('before_created_at', last.createdAt.toISOString());
    next.set('before_id', last.id);
    res.set('Link', `<${path}?${next}>; rel="next"`);
  }
  return page;
}
