/** Configures CORS: which requests of other origins browsers allow, and which response headers they can read. */
import cors from 'cors';
import type { RequestHandler } from 'express';
import type { Operation } from './openapi-document';

const PREFLIGHT_KEPT_SECONDS = 600;

const EXPOSED_HEADERS = [
  'X-Request-Id',
  'Retry-After',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'X-Total-Count',
  'X-Has-More',
  'X-Next-Before-Created-At',
  'X-Next-Before-Id',
  'X-Next-Cursor',
  'X-Next-After',
  'Link',
];

/**
 * Returns null if no other origin has access. No response allows credentials, so a browser sends no cookie.
 * @param origins that may call every operation with a Bearer
 * @throws Error for a non-public operation that is open to all origins
 */
export function crossOrigin(origins: readonly string[], operations: readonly Operation[]): RequestHandler | null {
  const forAll = operations.filter(({ isForAllOrigins }) => isForAllOrigins);
  for (const { id, access } of forAll) {
    if (access !== 'public') throw new Error(`${id}: x-origins is for operations that are public`);
  }
  if (origins.length === 0 && forAll.length === 0) return null;
  const paths = new Set(forAll.map(({ path }) => path));
  const common = { maxAge: PREFLIGHT_KEPT_SECONDS, exposedHeaders: EXPOSED_HEADERS };
  const some = origins.length ? cors({ ...common, origin: [...origins] }) : null;
  const all = cors({ ...common, origin: '*' });
  return (req, res, next) => {
    if (paths.has(req.path)) all(req, res, next);
    else if (some) some(req, res, next);
    else next();
  };
}
