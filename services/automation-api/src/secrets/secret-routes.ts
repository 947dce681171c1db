import { callerOf, type Operations } from '@gantry/http';
import type { SecretEntry } from '@gantry/vault';
import { auditOf } from '../audit/audit';
import type { Deps } from '../deps';
import { pathParam } from '../path-param';

/** No answer holds a value. */
export function secretOperations({ secrets, relay }: Deps): Operations {
  return {
    listSecrets: async (req, res) => {
      const entries = await secrets.list(callerOf(req).workspaceId);
      res.json({ secrets: entries.map(toApi) });
    },

    // No Idempotency-Key: storing twice is storing once, and the key's record would hold a plain hash of the value.
    setSecret: async (req, res) => {
      const { workspaceId, userId } = callerOf(req);
      const { name, value } = req.body;
      const { isNew, ...entry } = await secrets.set(workspaceId, { name, value, createdBy: userId }, auditOf(req));
      relay.kick();
      res.status(isNew ? 201 : 200).json(toApi(entry));
    },

    deleteSecret: async (req, res) => {
      await secrets.delete(callerOf(req).workspaceId, pathParam(req, 'name'), auditOf(req));
      relay.kick();
      res.status(204).end();
    },
  };
}

const toApi = ({ name, createdAt, updatedAt }: SecretEntry) => ({
  name,
  createdAt: createdAt.getTime(),
  updatedAt: updatedAt.getTime(),
});
