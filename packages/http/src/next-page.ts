import type { Request } from 'express';

/** Where the next page of a list begins: at this request with some of its parameters changed; null takes one away. */
export function linkTo(req: Request, changed: Record<string, string | number | null>): { Link: string } {
  const [, query] = req.originalUrl.split('?', 2);
  const params = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changed)) {
    if (value === null) params.delete(name);
    else params.set(name, String(value));
  }
  return { Link: `<${req.askedPath ?? req.path}?${params}>; rel="next"` };
}

/** How many there are in all, and where the next page of a list with `limit` and `offset` begins. */
export function pageHeaders(
  req: Request,
  { limit, offset }: { limit: number; offset: number },
  total: number,
): Record<string, string> {
  const count = { 'X-Total-Count': String(total) };
  return offset + limit < total ? { ...count, ...linkTo(req, { offset: offset + limit }) } : count;
}
