import { type Call, created, noContent, type Operations, ok, respondWithPage } from '@gantry/http';
import { getSessionPerson } from '../access/caller';
import type { Deps } from '../deps';
import { apiKeyToApi, createApiKey, getOwnKey, listApiKeys, revokeApiKey, rotateApiKey } from './api-key';

export function createApiKeyOperations(deps: Deps): Operations<'skills'> {
  const { prisma, evictKey } = deps;
  const getApiKey = ({ req }: Pick<Call, 'req'>, id: string) => getOwnKey(prisma, getSessionPerson(req), id);
  return {
    createApiKey: {
      create: async ({ req, body }) => {
        const { row, key } = await createApiKey(deps, getSessionPerson(req), body.name);
        return created({ ...apiKeyToApi(row), key });
      },
      assertVisible: getApiKey,
    },
    listApiKeys: async (call) =>
      respondWithPage(call, await listApiKeys(prisma, getSessionPerson(call.req)), apiKeyToApi),
    rotateApiKey: {
      create: async ({ req, path }) => {
        const { row, key } = await rotateApiKey(deps, getSessionPerson(req), path.id);
        evictKey(path.id);
        return ok({ ...apiKeyToApi(row), key });
      },
      assertVisible: getApiKey,
    },
    revokeApiKey: async ({ req, path }) => {
      await revokeApiKey(prisma, getSessionPerson(req), path.id);
      evictKey(path.id);
      return noContent();
    },
  };
}
