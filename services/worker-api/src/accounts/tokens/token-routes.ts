import { created, noContent, type OperationCall, type Operations, respondWithPage } from '@gantry/http';
import type { AccountDeps } from '../account-deps';
import { newTokenToApi, tokenToApi } from './token';
import { getToken, listTokens, type TokenOwner } from './token-repository';
import { createPersonalToken, createWorkspaceToken, getPersonalTokenOwner, revokeToken } from './token-service';

export function createTokenOperations(deps: AccountDeps): Operations<'worker'> {
  const { prisma, identities } = deps;
  async function revokeOwnedToken(
    call: OperationCall<'worker', 'revokePersonalToken' | 'revokeWorkspaceToken'>,
    owner: TokenOwner,
  ) {
    const token = { id: call.path.token_id, withMade: call.query.with_made };
    const ids = await revokeToken(prisma, owner, token, call);
    for (const id of ids) identities.evictToken(id);
    return noContent();
  }

  return {
    listPersonalTokens: async (call) =>
      respondWithPage(call, await listTokens(prisma, getPersonalTokenOwner(call.caller)), tokenToApi),
    createPersonalToken: {
      create: async (call) => {
        const { created: row, token } = await createPersonalToken(deps, call, call.body);
        return created(newTokenToApi(row, token));
      },
      assertVisible: ({ caller }, id) => getToken(prisma, getPersonalTokenOwner(caller), id),
    },
    revokePersonalToken: (call) => revokeOwnedToken(call, getPersonalTokenOwner(call.caller)),
    listWorkspaceTokens: async (call) => {
      const { workspaceId } = call.caller;
      return respondWithPage(call, await listTokens(prisma, { workspaceId }), tokenToApi);
    },
    createWorkspaceToken: {
      create: async (call) => {
        const { created: row, token } = await createWorkspaceToken(deps, call, call.body);
        return created(newTokenToApi(row, token));
      },
      assertVisible: ({ caller }, id) => getToken(prisma, { workspaceId: caller.workspaceId }, id),
    },
    revokeWorkspaceToken: (call) => revokeOwnedToken(call, { workspaceId: call.caller.workspaceId }),
  };
}
