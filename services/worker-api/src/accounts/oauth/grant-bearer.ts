import type { Principal } from '@gantry/http';
import type { IssueAccessToken } from '../auth/access-token';
import { isGrantId } from '../grants/grant';

/** A tool may wait 50 s for a run, and asks about it to the end. */
const LIFETIME_SECONDS = 300;

/**
 * Tools of `/mcp` are calls of the HTTP API (ADR 39), where an OAuth token is not good. A JWT that stands for the same grant
 * is; it is made for one message and never leaves the platform.
 */
export const bearerOfGrant =
  (issue: IssueAccessToken) =>
  async ({ userId, tokenId }: Principal): Promise<string | null> => {
    if (userId === null || tokenId === null || !isGrantId(tokenId)) return null;
    return (await issue({ userId, sessionId: tokenId }, LIFETIME_SECONDS)).access_token;
  };
