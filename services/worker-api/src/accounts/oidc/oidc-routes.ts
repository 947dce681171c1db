/**
 * Signs people in with an identity provider: authorization code with PKCE (RFC 9700), state and nonce.
 *
 * State is bound to the browser by a cookie, so that no person can finish a sign-in that another began, and its row is
 * deleted on use, so each redirect returns once. Everything happens on the host where it began, where the session
 * cookie must be.
 */

import { createHash } from 'node:crypto';
import { badCredentialError, isSameSecret } from '@gantry/auth';
import { AppError, notFound } from '@gantry/errors';
import { buildLinkActor, type Operations } from '@gantry/http';
import type { CookieOptions, Request, Response } from 'express';
import type { AccountDeps } from '../account-deps';
import { getClientInfo } from '../auth/session-cookie';
import {
  createIdentityProvider,
  type IdentityProvider,
  type OidcProfile,
  type OidcSettings,
} from './identity-provider';
import { findOrCreateUser, SignInRefusedError, verifyEmailWithProvider } from './oidc-account';

const STATE_COOKIE = 'svc_oidc_state';
const CALLBACK_PATH = '/auth/oidc/callback';
/** Between the redirect to the provider and the callback. */
const LIFETIME_MS = 10 * 60_000;

export function createOidcOperations(deps: AccountDeps): Operations<'worker'> {
  const { prisma, oidc, publicUrls, dashboardUrl, log } = deps;
  const provider = oidc && createIdentityProvider(oidc);
  const cookieOptions: CookieOptions = {
    httpOnly: true,
    // The callback is a top-level navigation from another site, for which "strict" would withhold the cookie.
    sameSite: 'lax',
    secure: publicUrls[0].startsWith('https:'),
    path: CALLBACK_PATH,
  };
  /** Returns one of our own origins, whatever the Host header says, so that no other site can be redirected to. */
  const resolveRequestOrigin = (req: Request) =>
    publicUrls.map((url) => new URL(url)).find(({ host }) => host === req.get('host'))?.origin ??
    new URL(dashboardUrl).origin;

  return {
    startOidc: async ({ query, req, res }) => {
      if (!provider) throw notFound('identity provider', 'oidc', 'on this installation');
      const origin = resolveRequestOrigin(req);
      const proving = query.prove ? await getSignedInSession(deps, req) : null;
      const { url, state, nonce, codeVerifier } = await provider.depart(`${origin}${CALLBACK_PATH}`);
      const returnTo = query.return_to ?? '/';
      const proveUserId = proving?.userId ?? null;
      await prisma.oidcSignIn.create({
        data: { stateHash: hashState(state), nonce, codeVerifier, origin, returnTo, proveUserId },
      });
      res.cookie(STATE_COOKIE, state, { ...cookieOptions, maxAge: LIFETIME_MS });
      res.redirect(302, url.href);
    },
    finishOidc: async ({ req, res }) => {
      if (!provider || !oidc) throw notFound('identity provider', 'oidc', 'on this installation');
      res.clearCookie(STATE_COOKIE, cookieOptions);
      try {
        res.redirect(302, await handleCallback(deps, provider, oidc, req, res));
      } catch (err) {
        const code = toRefusalCode(err);
        log.info({ err, code, requestId: req.id }, 'sign-in with the identity provider failed');
        // Only the dashboard has these pages, whatever host the sign-in began on.
        const page = err instanceof EmailNotVerifiedError ? 'settings/account' : 'sign-in';
        res.redirect(302, `${dashboardUrl}/${page}?error=${code}`);
      }
    },
  };
}

/** Signs in the person who came back, or verifies the address of a signed-in one. Returns their destination. */
async function handleCallback(
  deps: AccountDeps,
  provider: IdentityProvider,
  { signUp }: OidcSettings,
  req: Request,
  res: Response,
): Promise<string> {
  const { prisma, sessions, sessionCookie, identities } = deps;
  const state = String(req.query.state ?? '');
  if (!state || !isSameSecret(state, getStateCookie(req))) throw new Error('the state does not belong to this browser');
  const [storedState] = await prisma.oidcSignIn
    .delete({ where: { stateHash: hashState(state) } })
    .then((row) => [row])
    .catch(() => []);
  if (!storedState || Date.now() - storedState.createdAt.getTime() > LIFETIME_MS) throw new StateExpiredError();
  const { origin, nonce, codeVerifier, returnTo, proveUserId } = storedState;
  const fetchProfile = () => provider.arrive(new URL(req.originalUrl, origin), { state, nonce, codeVerifier });
  if (proveUserId !== null) {
    try {
      await verifySignedInEmail(deps, await fetchProfile(), proveUserId, req);
    } catch (cause) {
      throw new EmailNotVerifiedError('not proven', { cause });
    }
    return `${origin}${returnTo}`;
  }
  const person = await fetchProfile();
  const user = await findOrCreateUser(prisma, person, signUp, buildLinkActor(req, 'oidc'));
  identities.evictUser(user.id);
  sessionCookie.set(res, await sessions.open(prisma, user.id, getClientInfo(req)));
  return `${origin}${returnTo}`;
}

async function verifySignedInEmail(
  deps: AccountDeps,
  profile: OidcProfile,
  userId: string,
  req: Request,
): Promise<void> {
  const signedIn = await getSignedInSession(deps, req);
  // Another person may have signed in here meanwhile.
  if (signedIn.userId !== userId) throw new StateExpiredError();
  const ended = await verifyEmailWithProvider(deps, profile, signedIn, buildLinkActor(req, 'oidc'));
  for (const id of ended) deps.identities.evictToken(id);
  deps.identities.evictUser(userId);
}

/** Returns the user and session of this browser. @throws AppError 401 */
async function getSignedInSession(
  { sessionCookie, introspect }: AccountDeps,
  req: Request,
): Promise<{ userId: string; sessionId: string }> {
  const cookie = sessionCookie.read(req);
  const identity = cookie ? await introspect({ kind: 'session', cookie }) : null;
  if (!identity?.userId || !identity.tokenId)
    throw badCredentialError('sign in first: this request applies to the signed-in account');
  return { userId: identity.userId, sessionId: identity.tokenId };
}

class StateExpiredError extends Error {}
/** Wraps the error for which verification failed. */
class EmailNotVerifiedError extends Error {}

function toRefusalCode(err: unknown): string {
  if (err instanceof EmailNotVerifiedError) return toRefusalCode(err.cause);
  if (err instanceof SignInRefusedError) return err.code;
  if (err instanceof StateExpiredError) return 'oidc_expired';
  return err instanceof AppError && err.kind === 'unavailable' ? 'oidc_unavailable' : 'oidc_failed';
}

const hashState = (state: string) => new Uint8Array(createHash('sha256').update(state).digest());

const getStateCookie = (req: Request): string =>
  new RegExp(`(?:^|;\\s*)${STATE_COOKIE}=([\\w-]{1,256})`).exec(req.headers.cookie ?? '')?.[1] ?? '';
