import type { Request, Response } from 'express';

/** Tells the caller how many there are in all, and where the next page of a list with `limit` and `offset` begins. */
export function linkNextOffset(
  req: Request,
  res: Response,
  { limit, offset }: { limit: number; offset: number },
  total: number,
): void {
  res.set('X-Total-Count', String(total));
  if (offset + limit >= total) return;
  const [path, query] = req.originalUrl.split('?', 2);
  const next = new URLSearchParams(query);
  next.set('offset', String(offset + limit));
  res.set('Link', `<${path}?${next}>; rel="next"`);
}
