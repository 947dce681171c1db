/** Configures CORS: which requests of other origins browsers allow, and which response headers they can read. */
import cors from 'cors';
import type { RequestHandler } from 'express';
import type { Operation } from './openapi-document';

const PREFLIGHT_MAX_AGE_SECONDS = 600;

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
export function createCors(origins: readonly string[], operations: readonly Operation[]): RequestHandler | null {
  const publicOperations = operations.filter(({ isForAllOrigins }) => isForAllOrigins);
  for (const { id, access } of publicOperations) {
    if (access !== 'public') throw new Error(`${id}: x-origins is allowed only on public operations`);
  }
  if (origins.length === 0 && publicOperations.length === 0) return null;
  const paths = new Set(publicOperations.map(({ path }) => path));
  const common = { maxAge: PREFLIGHT_MAX_AGE_SECONDS, exposedHeaders: EXPOSED_HEADERS };
  const allowedOriginsCors = origins.length ? cors({ ...common, origin: [...origins] }) : null;
  const anyOriginCors = cors({ ...common, origin: '*' });
  return (req, res, next) => {
    if (paths.has(req.path)) anyOriginCors(req, res, next);
    else if (allowedOriginsCors) allowedOriginsCors(req, res, next);
    else next();
  };
}
