/** Lists: `limit` and `offset`, checked by the OpenAPI file, and a Link to the next page where there is one. */
import { linkTo } from '@gantry/http';
import type { Request, Response } from 'express';

export interface Page {
  limit: number;
  offset: number;
}

const LIMIT = 50;

export const pageOf = (req: Request): Page => ({
  limit: Number(req.query.limit ?? LIMIT),
  offset: Number(req.query.offset ?? 0),
});

/**
 * @param rows one more than the page holds, if there are more
 * @returns the rows of the page
 */
export function linkNext<T>(req: Request, res: Response, rows: T[], { limit, offset }: Page): T[] {
  if (rows.length > limit) linkTo(req, res, { limit, offset: offset + limit });
  return rows.slice(0, limit);
}

/** A parameter of the path that the OpenAPI file has already checked. */
export function pathParam(req: Request, name: string): string {
  const value = req.params[name];
  if (typeof value !== 'string') throw new Error(`operation ${req.operation?.id} has no parameter ${name}`);
  return value;
}
