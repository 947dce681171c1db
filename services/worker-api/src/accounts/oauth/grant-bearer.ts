import type { Principal } from '@gantry/limits';
import type { AccessTokenIssuer } from '../auth/access-token';
import { isGrantId } from '../grants/grant';

/** A tool may wait 50 s for a run, and polls it until the end. */
const LIFETIME_SECONDS = 300;

/**
 * Issues a JWT for the grant of an OAuth token: tools of `/mcp` call the HTTP API (ADR 39), which refuses the OAuth
 * token itself. The JWT is issued for one message and never leaves the platform.
 */
export const createGrantTokenIssuer =
  (issue: AccessTokenIssuer) =>
  async ({ userId, tokenId }: Principal): Promise<string | null> => {
    if (userId === null || tokenId === null || !isGrantId(tokenId)) return null;
    return (await issue({ userId, sessionId: tokenId }, LIFETIME_SECONDS)).access_token;
  };
