import { notFound } from '@gantry/errors';
import { type Call, noContent, type Operations, ok, paginate, respondWith } from '@gantry/http';
import { listWeakValueWarnings, type SecretEntry } from '@gantry/vault';
import { createAudit } from '../audit/audit';
import { listDeclaredSecrets } from '../automations/automation-queries';
import type { Deps } from '../deps';

/** No response contains a value. */
export function createSecretOperations({ pool, secrets }: Deps): Operations<'automation'> {
  async function getSecret({ caller }: Pick<Call, 'caller'>, name: string): Promise<SecretEntry> {
    const entry = (await secrets.list(caller.workspaceId)).find((one) => one.name === name);
    if (!entry) throw notFound('secret', name);
    return entry;
  }

  return {
    listSecrets: async (call) => {
      const { rows, headers } = paginate(call, await secrets.list(call.caller.workspaceId));
      return ok({ secrets: rows.map(toApi) }, headers);
    },

    listDeclaredSecrets: async (call) => {
      const { workspaceId } = call.caller;
      const [entries, declared] = await Promise.all([
        secrets.list(workspaceId),
        listDeclaredSecrets(pool, workspaceId),
      ]);
      const isSet = new Set(entries.map(({ name }) => name));
      const { rows, headers } = paginate(call, declared);
      return ok({ secrets: rows.map((one) => ({ ...one, set: isSet.has(one.name) })) }, headers);
    },

    setSecret: {
      create: async ({ caller, req, markCreated, body: { name, value, hosts, places } }) => {
        const secret = { name, value, hosts, places, createdBy: caller.userId };
        const { isNew, ...entry } = await secrets.set(caller.workspaceId, secret, async (tx, change) => {
          await createAudit(req)(tx, change);
          await markCreated(tx, name);
        });
        return respondWith(isNew ? 201 : 200, { ...toApi(entry), ...listWeakValueWarnings(value, entry.hosts) });
      },
      assertVisible: getSecret,
      answer: async (call, name) => {
        const entry = await getSecret(call, name);
        return respondWith(getResponseStatus(entry), toApi(entry));
      },
    },

    deleteSecret: async ({ caller, req, path }) =>
      secrets.delete(caller.workspaceId, path.name, createAudit(req)).then(noContent),
  };
}

/** Returns 201 for a secret that was never overwritten. */
const getResponseStatus = ({ createdAt, updatedAt }: SecretEntry): number =>
  createdAt.getTime() === updatedAt.getTime() ? 201 : 200;

const toApi = ({ name, hosts, places, createdAt, updatedAt }: SecretEntry) => ({
  name,
  hosts,
  places,
  createdAt: createdAt.getTime(),
  updatedAt: updatedAt.getTime(),
});
