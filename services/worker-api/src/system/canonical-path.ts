const PREFIX = /^\/(?:api\/v1|api|v1)(?=\/|$)/;
/** Paths that openapi/worker documents without `/api`. */
const UNPREFIXED = /^\/(?:auth|\.well-known|healthz|health|mcp)(?:\/|$)/;

/** Signing in lives under `/auth` alone; the caller's own account, under `/api` too. */
const NOT_ALIASED = /^\/api(?:\/v1)?\/auth\/(?!me\/?$)/i;

/** The worker surface answers under `/`, `/api`, `/v1` and `/api/v1` alike: the path that the OpenAPI file documents. */
export function toCanonicalPath(path: string): string {
  if (NOT_ALIASED.test(path)) return path;
  const bare = path.replace(PREFIX, '') || '/';
  return UNPREFIXED.test(bare) ? bare : `/api${bare}`;
}
