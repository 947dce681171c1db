import type { Request } from 'express';
import { type HandlerResponse, ok } from './handler';

/** Builds the link to the next page of a list: this request with changed parameters; null removes one. */
export function buildNextLink(req: Request, changedParams: Record<string, string | number | null>): { Link: string } {
  const [, query] = req.originalUrl.split('?', 2);
  const params = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changedParams)) {
    if (value === null) params.delete(name);
    else params.set(name, String(value));
  }
  return { Link: `<${req.askedPath ?? req.path}?${params}>; rel="next"` };
}

/** Builds the total count and, before the last page of a list with `limit` and `offset`, the link to the next page. */
export function buildPageHeaders(req: Request, { limit, offset }: PageQuery, total: number): Record<string, string> {
  const count = { 'X-Total-Count': String(total) };
  return offset + limit < total ? { ...count, ...buildNextLink(req, { offset: offset + limit }) } : count;
}

/** Returns the page by `limit` and `offset` of a list that is short enough to be loaded completely. */
export function paginate<Row>(
  { req, query }: PagedCall,
  rows: Row[],
): { rows: Row[]; headers: Record<string, string> } {
  const { limit, offset } = query;
  return { rows: rows.slice(offset, offset + limit), headers: buildPageHeaders(req, query, rows.length) };
}

/** Responds with that page. */
export const respondWithPage = <Row>(call: PagedCall, allRows: Row[], toApi: (row: Row) => unknown): HandlerResponse =>
  respondWithCountedPage(call, paginate(call, allRows).rows, allRows.length, toApi);

/** Responds with the rows that a query has selected for this page. @param total of all pages */
export function respondWithCountedPage<Row>(
  { req, query }: PagedCall,
  rows: Row[],
  total: number,
  toApi: (row: Row) => unknown,
): HandlerResponse {
  const items = rows.map((row) => toApi(row));
  return ok(items, buildPageHeaders(req, query, total));
}

/**
 * Responds with the rows that a query has selected for this page.
 * @param rows one more than the page holds, if there are more
 */
export function respondWithSelectedPage<Row>(
  { req, query }: PagedCall,
  rows: Row[],
  toApi: (row: Row) => unknown,
): HandlerResponse {
  const { limit, offset } = query;
  const headers = rows.length > limit ? buildNextLink(req, { limit, offset: offset + limit }) : {};
  return ok(rows.slice(0, limit).map(toApi), headers);
}

export interface PageQuery {
  limit: number;
  offset: number;
}

interface PagedCall {
  req: Request;
  query: PageQuery;
}
