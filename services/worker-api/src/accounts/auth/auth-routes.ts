import { badCredential, SESSION_COOKIE } from '@gantry/auth';
import { actorBy, callerOf, type Operations } from '@gantry/http';
import type { PrismaClient } from '../../generated/prisma/client';
import type { SigningKeys } from '../signing-keys/signing-keys';
import { userToApi } from '../users/user';
import { workspacesToApi, workspaceToApi } from '../workspaces/workspace';
import { listWorkspaces } from '../workspaces/workspace-repository';
import type { Sessions } from './session';
import { clientOf, type SessionCookie } from './session-cookie';
import { setUp } from './setup';
import { signIn } from './sign-in';

export interface AuthDeps {
  prisma: PrismaClient;
  sessions: Sessions;
  sessionCookie: SessionCookie;
  signingKeys: SigningKeys;
  setupToken: string | undefined;
}

export function authOperations(deps: AuthDeps): Operations {
  const { prisma, sessions, sessionCookie, signingKeys } = deps;
  return {
    setUp: async (req, res) => {
      const { user, workspace, session } = await setUp(deps, req.body, clientOf(req), actorBy(req, 'link'));
      const access = await sessionCookie.answer(res, session);
      res.status(201).json({ ...access, user: userToApi(user), workspace: workspaceToApi(workspace, 'owner', true) });
    },
    signIn: async (req, res) => {
      res.json(await sessionCookie.answer(res, await signIn(deps, req.body, clientOf(req))));
    },
    refreshSession: async (req, res) => {
      const cookie = sessionCookie.read(req);
      if (!cookie) throw badCredential(`refreshing needs the cookie ${SESSION_COOKIE}; sign in first`);
      res.json(await sessionCookie.answer(res, await sessions.refresh(cookie)));
    },
    signOut: async (req, res) => {
      const cookie = sessionCookie.read(req);
      if (cookie) await sessions.close(cookie);
      sessionCookie.clear(res);
      res.status(204).end();
    },
    me: async (req, res) => {
      const caller = callerOf(req);
      const { userId, email, emailVerified, name, kind, tokenId, workspaceId, role, memberships } = caller;
      const workspaces = await listWorkspaces(prisma, Object.keys(memberships));
      const isMember = Object.hasOwn(memberships, workspaceId);
      res.json({
        id: userId,
        email,
        email_verified: emailVerified,
        name,
        credential: kind,
        token_id: kind === 'jwt' ? null : tokenId,
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
