import { badCredentialError, SESSION_COOKIE } from '@gantry/auth';
import { buildLinkActor, created, noContent, type Operations, ok, toApiFields } from '@gantry/http';
import type { AccountDeps } from '../account-deps';
import { callerRestrictionToApi } from '../tokens/token-restriction';
import { userToApi } from '../users/user';
import { workspacesToApi, workspaceToApi } from '../workspaces/workspace';
import { listWorkspaces } from '../workspaces/workspace-repository';
import { getClientInfo } from './session-cookie';
import { setUpInstallation } from './setup';
import { signIn } from './sign-in';

export function createAuthOperations(deps: AccountDeps): Operations<'worker'> {
  const { prisma, sessions, sessionCookie, signingKeys } = deps;
  return {
    setUp: async ({ body, req, res }) => {
      sessionCookie.requireOwnPage(req);
      const { user, workspace, session } = await setUpInstallation(
        deps,
        body,
        getClientInfo(req),
        buildLinkActor(req, 'link'),
      );
      const access = await sessionCookie.answer(res, session);
      return created({ ...access, user: userToApi(user), workspace: workspaceToApi(workspace, 'owner', true) });
    },
    signIn: async ({ body, req, res }) => {
      sessionCookie.requireOwnPage(req);
      return ok(await sessionCookie.answer(res, await signIn(deps, body, getClientInfo(req))));
    },
    refreshSession: async ({ req, res }) => {
      const cookie = sessionCookie.read(req);
      if (!cookie)
        throw badCredentialError(`refreshing a session requires the ${SESSION_COOKIE} cookie; sign in first`);
      return ok(await sessionCookie.answer(res, await sessions.refresh(cookie)));
    },
    signOut: async ({ req, res }) => {
      const cookie = sessionCookie.read(req);
      if (cookie) await sessions.close(cookie);
      sessionCookie.clear(res);
      return noContent();
    },
    me: async ({ caller }) => {
      const { userId, kind, tokenId, workspaceId, role, memberships } = caller;
      const workspaces = await listWorkspaces(prisma, Object.keys(memberships));
      const isMember = Object.hasOwn(memberships, workspaceId);
      return ok({
        ...toApiFields(caller, 'email', 'emailVerified', 'name'),
        id: userId,
        credential: kind,
        token_id: kind === 'jwt' ? null : tokenId,
        workspace_id: isMember ? workspaceId : null,
        role: isMember ? role : null,
        restrict: callerRestrictionToApi(caller),
        workspaces: workspacesToApi(workspaces, caller),
      });
    },
    jwks: async () => ok(await signingKeys.jwks()),
  };
}
