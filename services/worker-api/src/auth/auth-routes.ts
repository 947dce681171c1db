import { badCredential, originsOf, readSessionCookie, requireSameOrigin, SESSION_COOKIE } from '@gantry/auth';
import { callerOf, type Operations } from '@gantry/http';
import type { CookieOptions, Request, Response } from 'express';
import type { PrismaClient } from '../generated/prisma/client';
import type { SigningKeys } from '../signing-keys/signing-keys';
import { workspacesToApi, workspaceToApi } from '../workspaces/workspace';
import { listWorkspaces } from '../workspaces/workspace-repository';
import type { IssueAccessToken } from './access-token';
import type { Client, Sessions } from './session';
import { SESSION_IDLE_DAYS } from './session-repository';
import { setUp } from './setup';
import { signIn } from './sign-in';

export interface AuthDeps {
  prisma: PrismaClient;
  sessions: Sessions;
  signingKeys: SigningKeys;
  issueAccessToken: IssueAccessToken;
  setupToken: string | undefined;
  /** Of the three surfaces, the worker surface first. */
  publicUrls: [string, ...string[]];
}

export function authOperations(deps: AuthDeps): Operations {
  const { prisma, sessions, signingKeys, issueAccessToken, publicUrls } = deps;
  const origins = originsOf(publicUrls);
  const cookieOptions: CookieOptions = {
    httpOnly: true,
    sameSite: 'lax',
    secure: publicUrls[0].startsWith('https:'),
    path: '/',
  };
  const setCookie = (res: Response, cookie: string) =>
    res.cookie(SESSION_COOKIE, cookie, { ...cookieOptions, maxAge: SESSION_IDLE_DAYS * 86_400_000 });

  /** A program that holds the cookie itself may refresh and sign out without an Origin; a foreign page may not. */
  function cookieOf(req: Request): string | undefined {
    const cookie = readSessionCookie(req);
    if (cookie) requireSameOrigin(req, origins, 'allow');
    return cookie;
  }

  return {
    setUp: async (req, res) => {
      const { user, workspace, cookie } = await setUp(deps, req.body, clientOf(req));
      const access = await issueAccessToken(user.id);
      setCookie(res, cookie);
      const { id, email, name, createdAt } = user;
      res.status(201).json({
        ...access,
        user: { id, email, name, created_at: createdAt.toISOString() },
        workspace: workspaceToApi(workspace, 'owner', true),
      });
    },
    signIn: async (req, res) => {
      const { userId, cookie } = await signIn(deps, req.body, clientOf(req));
      const access = await issueAccessToken(userId);
      setCookie(res, cookie);
      res.json(access);
    },
    refreshSession: async (req, res) => {
      const cookie = cookieOf(req);
      if (!cookie) throw badCredential(`refreshing needs the cookie ${SESSION_COOKIE}; sign in first`);
      const session = await sessions.refresh(cookie);
      const access = await issueAccessToken(session.userId);
      setCookie(res, session.cookie);
      res.json(access);
    },
    signOut: async (req, res) => {
      const cookie = cookieOf(req);
      if (cookie) await sessions.close(cookie);
      res.clearCookie(SESSION_COOKIE, cookieOptions).status(204).end();
    },
    me: async (req, res) => {
      const caller = callerOf(req);
      const { userId, email, name, kind, tokenId, workspaceId, role, memberships } = caller;
      const workspaces = await listWorkspaces(prisma, Object.keys(memberships));
      const isMember = Object.hasOwn(memberships, workspaceId);
      res.json({
        id: userId,
        email,
        name,
        credential: kind,
        token_id: tokenId,
        workspace_id: isMember ? workspaceId : null,
        role: isMember ? role : null,
        workspaces: workspacesToApi(workspaces, caller),
      });
    },
    jwks: async (_req, res) => {
      res.json(await signingKeys.jwks());
    },
  };
}

const clientOf = (req: Request): Client => ({
  address: req.ip ?? null,
  userAgent: req.get('user-agent')?.slice(0, 255) ?? null,
});
