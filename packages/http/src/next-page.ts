import type { Request, Response } from 'express';

/** Says where the next page of a list begins: at this request with some of its parameters changed; null takes one away. */
export function linkTo(req: Request, res: Response, changed: Record<string, string | number | null>): void {
  const [, query] = req.originalUrl.split('?', 2);
  const params = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changed)) {
    if (value === null) params.delete(name);
    else params.set(name, String(value));
  }
  res.set('Link', `<${req.askedPath ?? req.path}?${params}>; rel="next"`);
}

/** Says how many there are in all, and where the next page of a list with `limit` and `offset` begins. */
export function linkNextOffset(
  req: Request,
  res: Response,
  { limit, offset }: { limit: number; offset: number },
  total: number,
): void {
  res.set('X-Total-Count', String(total));
  if (offset + limit < total) linkTo(req, res, { offset: offset + limit });
}
