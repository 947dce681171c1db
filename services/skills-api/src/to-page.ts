/** Pages of lists: `limit` and `offset`, and a Link to the next page if there is one. */
import { buildNextLink, type Call, type HandlerResponse, ok } from '@gantry/http';

export interface Page {
  limit: number;
  offset: number;
}

/** @param rows one more than the page holds, if there are more */
export function toPage<T>({ req, query }: Call<unknown, Page>, rows: T[], toApi: (row: T) => unknown): HandlerResponse {
  const { limit, offset } = query;
  const headers = rows.length > limit ? buildNextLink(req, { limit, offset: offset + limit }) : {};
  return ok(rows.slice(0, limit).map(toApi), headers);
}
