import { callerOf, creating, madeBy, notFound, type Operations } from '@gantry/http';
import type { SecretEntry } from '@gantry/vault';
import type { Request } from 'express';
import { auditOf } from '../audit/audit';
import type { Deps } from '../deps';
import { pathParam } from '../path-param';

/** No answer holds a value. */
export function secretOperations({ secrets }: Deps): Operations {
  async function getSecret(req: Request, name: string): Promise<SecretEntry> {
    const entry = (await secrets.list(callerOf(req).workspaceId)).find((one) => one.name === name);
    if (!entry) throw notFound('secret', name);
    return entry;
  }

  return {
    listSecrets: async (req, res) => {
      const entries = await secrets.list(callerOf(req).workspaceId);
      res.json({ secrets: entries.map(toApi) });
    },

    setSecret: creating(
      async (req, res) => {
        const { workspaceId, userId } = callerOf(req);
        const { name, value } = req.body;
        const secret = { name, value, createdBy: userId };
        const { isNew, ...entry } = await secrets.set(workspaceId, secret, async (tx, change) => {
          await auditOf(req)(tx, change);
          await madeBy(req)(tx, name);
        });
        res.status(isNew ? 201 : 200).json(toApi(entry));
      },
      {
        see: getSecret,
        answer: async (req, res, name) => {
          const entry = await getSecret(req, name);
          res.status(statusOf(entry)).json(toApi(entry));
        },
      },
    ),

    deleteSecret: async (req, res) => {
      await secrets.delete(callerOf(req).workspaceId, pathParam(req, 'name'), auditOf(req));
      res.status(204).end();
    },
  };
}

/** 201 for one that was never overwritten. */
const statusOf = ({ createdAt, updatedAt }: SecretEntry): number =>
  createdAt.getTime() === updatedAt.getTime() ? 201 : 200;

const toApi = ({ name, createdAt, updatedAt }: SecretEntry) => ({
  name,
  createdAt: createdAt.getTime(),
  updatedAt: updatedAt.getTime(),
});
