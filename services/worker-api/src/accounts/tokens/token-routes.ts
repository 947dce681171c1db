import { actorOf, callerOf, creating, madeBy, type Operations } from '@gantry/http';
import type { Request } from 'express';
import { newTokenToApi, tokenToApi } from './token';
import { getToken, listTokens } from './token-repository';
import { createPersonalToken, createWorkspaceToken, revokeToken, type TokenDeps, userOf } from './token-service';

export interface TokenRouteDeps extends TokenDeps {
  /** After a commit that revoked something. */
  revoked: (tokenId: string) => void;
}

const tokenOf = ({ params, query }: Request) => ({
  id: String(params.token_id),
  withMade: String(query.with_made) === 'true',
});

export function tokenOperations(deps: TokenRouteDeps): Operations {
  const { prisma, revoked } = deps;
  return {
    listPersonalTokens: async (req, res) => {
      res.json((await listTokens(prisma, userOf(callerOf(req)))).map(tokenToApi));
    },
    createPersonalToken: creating(
      async (req, res) => {
        const { created, token } = await createPersonalToken(deps, callerOf(req), actorOf(req), madeBy(req), req.body);
        res.status(201).json(newTokenToApi(created, token));
      },
      { see: (req, id) => getToken(prisma, userOf(callerOf(req)), id) },
    ),
    revokePersonalToken: async (req, res) => {
      const caller = callerOf(req);
      const ids = await revokeToken(prisma, userOf(caller), tokenOf(req), caller.workspaceId, actorOf(req));
      ids.forEach(revoked);
      res.status(204).end();
    },
    listWorkspaceTokens: async (req, res) => {
      const { workspaceId } = callerOf(req);
      res.json((await listTokens(prisma, { workspaceId })).map(tokenToApi));
    },
    createWorkspaceToken: creating(
      async (req, res) => {
        const { created, token } = await createWorkspaceToken(deps, callerOf(req), actorOf(req), madeBy(req), req.body);
        res.status(201).json(newTokenToApi(created, token));
      },
      { see: (req, id) => getToken(prisma, { workspaceId: callerOf(req).workspaceId }, id) },
    ),
    revokeWorkspaceToken: async (req, res) => {
      const { workspaceId } = callerOf(req);
      const ids = await revokeToken(prisma, { workspaceId }, tokenOf(req), workspaceId, actorOf(req));
      ids.forEach(revoked);
      res.status(204).end();
    },
  };
}
