import { created, noContent, type Operations, okPage } from '@gantry/http';
import { newTokenToApi, tokenToApi } from './token';
import { getToken, listTokens } from './token-repository';
import { createPersonalToken, createWorkspaceToken, revokeToken, type TokenDeps, userOf } from './token-service';

export interface TokenRouteDeps extends TokenDeps {
  /** After a commit that revoked something. */
  revoked: (tokenId: string) => void;
}

const tokenOf = (path: { token_id: string }, query: { with_made: boolean }) => ({
  id: path.token_id,
  withMade: query.with_made,
});

export function tokenOperations(deps: TokenRouteDeps): Operations<'worker'> {
  const { prisma, revoked } = deps;
  return {
    listPersonalTokens: async (call) => okPage(call, await listTokens(prisma, userOf(call.caller)), tokenToApi),
    createPersonalToken: {
      make: async ({ caller, actor, body, made }) => {
        const { created: row, token } = await createPersonalToken(deps, caller, actor, made, body);
        return created(newTokenToApi(row, token));
      },
      see: ({ caller }, id) => getToken(prisma, userOf(caller), id),
    },
    revokePersonalToken: async ({ caller, actor, path, query }) => {
      const ids = await revokeToken(prisma, userOf(caller), tokenOf(path, query), caller.workspaceId, actor);
      ids.forEach(revoked);
      return noContent();
    },
    listWorkspaceTokens: async (call) => {
      const { workspaceId } = call.caller;
      return okPage(call, await listTokens(prisma, { workspaceId }), tokenToApi);
    },
    createWorkspaceToken: {
      make: async ({ caller, actor, body, made }) => {
        const { created: row, token } = await createWorkspaceToken(deps, caller, actor, made, body);
        return created(newTokenToApi(row, token));
      },
      see: ({ caller }, id) => getToken(prisma, { workspaceId: caller.workspaceId }, id),
    },
    revokeWorkspaceToken: async ({ caller, actor, path, query }) => {
      const { workspaceId } = caller;
      const ids = await revokeToken(prisma, { workspaceId }, tokenOf(path, query), workspaceId, actor);
      ids.forEach(revoked);
      return noContent();
    },
  };
}
