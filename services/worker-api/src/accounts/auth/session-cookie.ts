/** Responses that open a session: its cookie, and an access JWT that ends with it. */
import { parseSessionCookie, requireSameOrigin, SESSION_COOKIE, toOrigins } from '@gantry/auth';
import type { CookieOptions, Request, Response } from 'express';
import type { AccessToken, AccessTokenIssuer } from './access-token';
import type { ClientInfo, OpenSession } from './session';
import { SESSION_IDLE_DAYS } from './session-repository';

export type SessionCookie = ReturnType<typeof createSessionCookie>;

export function createSessionCookie(options: {
  issueAccessToken: AccessTokenIssuer;
  /** Addresses of the three surfaces, the worker surface first. */
  publicUrls: [string, ...string[]];
}) {
  const { issueAccessToken, publicUrls } = options;
  const origins = toOrigins(publicUrls);
  const cookieOptions: CookieOptions = {
    httpOnly: true,
    sameSite: 'lax',
    secure: publicUrls[0].startsWith('https:'),
    path: '/',
  };
  const setCookie = (res: Response, { cookie }: OpenSession) =>
    void res.cookie(SESSION_COOKIE, cookie, { ...cookieOptions, maxAge: SESSION_IDLE_DAYS * 86_400_000 });
  return {
    /** Sets the cookie, for a response without a body. */
    set: setCookie,
    /** Sets the cookie. Returns the access JWT, for the response body. */
    answer: async (res: Response, session: OpenSession): Promise<AccessToken> => {
      const access = await issueAccessToken(session);
      setCookie(res, session);
      return access;
    },
    /**
     * Returns the cookie of a request that may use it. A program that holds the cookie may omit Origin; a foreign page
     * is refused.
     */
    read: (req: Request): string | undefined => {
      const cookie = parseSessionCookie(req);
      if (cookie) requireSameOrigin(req, origins, 'allow');
      return cookie;
    },
    /**
     * A page of another site must not put its visitor into a session of its choice. Programs send no Origin.
     * @throws AppError 403
     */
    requireOwnPage: (req: Request): void => requireSameOrigin(req, origins, 'allow'),
    clear: (res: Response) => void res.clearCookie(SESSION_COOKIE, cookieOptions),
  };
}

/** Client details for the list of sessions. */
export const getClientInfo = (req: Request): ClientInfo => ({
  address: req.ip ?? null,
  userAgent: req.get('user-agent')?.slice(0, 255) ?? null,
});
