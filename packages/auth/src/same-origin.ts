/**
 * CSRF protection: browsers attach cookies automatically, so a request that changes something must come from one of
 * the platform's pages.
 */
import { forbidden } from '@gantry/errors';
import type { Request } from 'express';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Browsers send Origin with every unsafe request and a page cannot forge it. Sec-Fetch-Site, where sent, also refuses a
 * page on another port of the same host.
 * @param missingHeaders policy for a request without both headers: `refuse`, or `allow` where a program that holds the
 *   cookie itself (curl with a cookie jar) may call too
 * @throws AppError 403
 */
export function requireSameOrigin(
  req: Request,
  origins: ReadonlySet<string>,
  missingHeaders: 'refuse' | 'allow',
): void {
  if (SAFE_METHODS.has(req.method)) return;
  const { origin } = req.headers;
  const site = req.headers['sec-fetch-site'];
  if (missingHeaders === 'allow' && origin === undefined && site === undefined) return;
  if (origin !== undefined && origins.has(origin) && (site === undefined || site === 'same-origin')) return;
  throw forbidden(
    'cross_origin',
    'a request with the session cookie must come from a page on this platform; programs must send a token instead',
  );
}

/** The exact origins of the public addresses. */
export const toOrigins = (urls: string[]): ReadonlySet<string> => new Set(urls.map((url) => new URL(url).origin));
