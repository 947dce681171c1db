import { actorOf, type Creating, callerOf, creating, madeBy, notFound, type Operations } from '@gantry/http';
import type { AuditSecret, SecretEntry } from '@gantry/vault';
import type { Request, Response } from 'express';
import { recordChange } from '../audit/audit-entry';
import {
  type DeclaringWorker,
  requireUnused,
  usedByToApi,
  workersThatDeclare,
} from '../declarations/workers-that-declare';
import type { Deps } from '../deps';

/** No answer holds a value. */
export function secretOperations({ pool, secrets, keyRotation, now }: Deps): Operations {
  const auditOf =
    (req: Request): AuditSecret =>
    (tx, change) =>
      recordChange(tx, actorOf(req), { ...change, workspaceId: callerOf(req).workspaceId });

  const declaring = (workspaceId: string) => workersThatDeclare(pool, workspaceId, 'secrets');

  async function set(req: Request, res: Response, name: string): Promise<void> {
    const { workspaceId, userId, tokenId } = callerOf(req);
    const secret = { name, value: String(req.body.value), createdBy: userId ?? tokenId };
    const { isNew, ...entry } = await secrets.set(workspaceId, secret, async (tx, change) => {
      await auditOf(req)(tx, change);
      await madeBy(req)(tx, name);
    });
    res.status(isNew ? 201 : 200).json(toApi(req, entry, await declaring(workspaceId)));
  }

  async function getSecret(req: Request, name: string): Promise<SecretEntry> {
    const entry = (await secrets.list(callerOf(req).workspaceId)).find((one) => one.name === name);
    if (!entry) throw notFound('secret', name);
    return entry;
  }

  const posted = (nameOf: (req: Request) => string): Creating =>
    creating((req, res) => set(req, res, nameOf(req)), {
      see: getSecret,
      answer: async (req, res, name) => {
        const entry = await getSecret(req, name);
        const { workspaceId } = callerOf(req);
        res.status(statusOf(entry)).json(toApi(req, entry, await declaring(workspaceId)));
      },
    });

  return {
    listSecrets: async (req, res) => {
      const { workspaceId } = callerOf(req);
      const [entries, workers] = await Promise.all([secrets.list(workspaceId), declaring(workspaceId)]);
      res.json(entries.map((entry) => toApi(req, entry, workers)));
    },

    createSecret: posted((req) => req.body.name),
    setSecret: (req, res) => set(req, res, String(req.params.name)),
    postSecret: posted((req) => String(req.params.name)),

    deleteSecret: async (req, res) => {
      const caller = callerOf(req);
      const name = String(req.params.name);
      if (String(req.query.force) !== 'true' && (await secrets.test(caller.workspaceId, name)).isSet) {
        requireUnused(caller, `secret "${name}"`, (await declaring(caller.workspaceId)).get(name));
      }
      await secrets.delete(caller.workspaceId, name, auditOf(req));
      res.status(204).end();
    },

    testSecret: async (req, res) => {
      const { isSet, decrypts } = await secrets.test(callerOf(req).workspaceId, String(req.params.name));
      res.json({ ok: isSet && decrypts, set: isSet, decrypts, tested_at: now().toISOString() });
    },

    rotateSecretKeys: async (req, res) => {
      const { workspaceId } = callerOf(req);
      const { keyVersion, resealed } = await keyRotation.rotate(workspaceId, (tx, version) =>
        recordChange(tx, actorOf(req), {
          workspaceId,
          action: 'secret_keys.rotated',
          resource: { type: 'workspace', id: workspaceId },
          details: { key_version: version },
        }),
      );
      res.json({ key_version: keyVersion, resealed });
    },
  };
}

/** 201 for one that was never overwritten. */
const statusOf = ({ createdAt, updatedAt }: SecretEntry): number =>
  createdAt.getTime() === updatedAt.getTime() ? 201 : 200;

const toApi = (req: Request, entry: SecretEntry, workers: Map<string, DeclaringWorker[]>) => ({
  name: entry.name,
  created_at: entry.createdAt.toISOString(),
  updated_at: entry.updatedAt.toISOString(),
  last_used_at: entry.lastUsedAt?.toISOString() ?? null,
  used_by: usedByToApi(callerOf(req), workers.get(entry.name)),
});
