import { type Call, created, noContent, type Operations, ok, okPage } from '@gantry/http';
import { personInSessionOf } from '../access/caller';
import type { Deps } from '../deps';
import { apiKeyToApi, createApiKey, getOwnKey, listApiKeys, revokeApiKey, rotateApiKey } from './api-key';

export function apiKeyOperations(deps: Deps): Operations<'skills'> {
  const { prisma, evictKey } = deps;
  const see = ({ req }: Pick<Call, 'req'>, id: string) => getOwnKey(prisma, personInSessionOf(req), id);
  return {
    createApiKey: {
      make: async ({ req, body }) => {
        const { row, key } = await createApiKey(deps, personInSessionOf(req), body.name);
        return created({ ...apiKeyToApi(row), key });
      },
      see,
    },
    listApiKeys: async (call) => okPage(call, await listApiKeys(prisma, personInSessionOf(call.req)), apiKeyToApi),
    rotateApiKey: {
      make: async ({ req, path }) => {
        const { row, key } = await rotateApiKey(deps, personInSessionOf(req), path.id);
        evictKey(path.id);
        return ok({ ...apiKeyToApi(row), key });
      },
      see,
    },
    revokeApiKey: async ({ req, path }) => {
      await revokeApiKey(prisma, personInSessionOf(req), path.id);
      evictKey(path.id);
      return noContent();
    },
  };
}
