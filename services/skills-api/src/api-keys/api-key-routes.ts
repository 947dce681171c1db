import { creating, type Operations, type Revisit } from '@gantry/http';
import { personInSessionOf } from '../access/caller';
import { pathParam } from '../page-of';
import {
  type ApiKeyDeps,
  apiKeyToApi,
  createApiKey,
  getOwnKey,
  listApiKeys,
  revokeApiKey,
  rotateApiKey,
} from './api-key';

export interface ApiKeyRouteDeps extends ApiKeyDeps {
  /** After a commit that ended a secret. */
  revoked: (keyId: string) => void;
}

export function apiKeyOperations(deps: ApiKeyRouteDeps): Operations {
  const { prisma, revoked } = deps;
  const ofKey: Revisit = { see: (req, id) => getOwnKey(prisma, personInSessionOf(req), id) };
  return {
    createApiKey: creating(async (req, res) => {
      const { row, key } = await createApiKey(deps, personInSessionOf(req), req.body.name);
      res.status(201).json({ ...apiKeyToApi(row), key });
    }, ofKey),
    listApiKeys: async (req, res) => {
      res.json((await listApiKeys(prisma, personInSessionOf(req))).map(apiKeyToApi));
    },
    rotateApiKey: creating(async (req, res) => {
      const id = pathParam(req, 'id');
      const { row, key } = await rotateApiKey(deps, personInSessionOf(req), id);
      revoked(id);
      res.json({ ...apiKeyToApi(row), key });
    }, ofKey),
    revokeApiKey: async (req, res) => {
      const id = pathParam(req, 'id');
      await revokeApiKey(prisma, personInSessionOf(req), id);
      revoked(id);
      res.status(204).end();
    },
  };
}
