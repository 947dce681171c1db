import { notFound } from '@gantry/errors';
import {
  type Call,
  type HandlerResponse,
  noContent,
  type OperationCall,
  type Operations,
  ok,
  respondWith,
  respondWithPage,
  toApiFields,
} from '@gantry/http';
import type { Principal } from '@gantry/limits';
import { type AuditSecret, listWeakValueWarnings, type SecretEntry } from '@gantry/vault';
import { recordChange } from '../audit/audit-entry';
import {
  type DeclaringWorker,
  isDeclaredByVisibleWorker,
  listDeclaringWorkers,
  requireUnusedResource,
  usedByToApi,
} from '../declarations/declaring-workers';
import type { SecretDeps } from './secret-deps';

type NewValue = OperationCall<'worker', 'setSecret'>['body'];

/** No answer holds a value. */
export function createSecretOperations({ pool, secrets, keyRotation, now }: SecretDeps): Operations<'worker'> {
  const toAuditEntry =
    ({ actor, caller: { workspaceId } }: Pick<Call, 'actor' | 'caller'>): AuditSecret =>
    (tx, { action, id, details }) =>
      recordChange(tx, actor, action, { workspaceId, id }, details);

  const loadDeclaringWorkers = (workspaceId: string) => listDeclaringWorkers(pool, workspaceId, 'secrets');

  async function setSecretValue(
    call: Call,
    name: string,
    { value, hosts, places }: NewValue,
  ): Promise<HandlerResponse> {
    const { caller, markCreated } = call;
    const secret = { name, value, hosts, places, createdBy: caller.userId ?? caller.tokenId };
    const { isNew, ...entry } = await secrets.set(caller.workspaceId, secret, async (tx, change) => {
      await toAuditEntry(call)(tx, change);
      await markCreated(tx, name);
    });
    const shown = secretToApi(caller, entry, await loadDeclaringWorkers(caller.workspaceId));
    return respondWith(isNew ? 201 : 200, { ...shown, ...listWeakValueWarnings(value, entry.hosts) });
  }

  async function getSecret({ caller }: Pick<Call, 'caller'>, name: string): Promise<SecretEntry> {
    const entry = (await secrets.list(caller.workspaceId)).find((one) => one.name === name);
    if (!entry) throw notFound('secret', name);
    return entry;
  }

  const posted = {
    assertVisible: getSecret,
    answer: async (call: Call, name: string) => {
      const entry = await getSecret(call, name);
      const workers = await loadDeclaringWorkers(call.caller.workspaceId);
      return respondWith(computeResponseStatus(entry), secretToApi(call.caller, entry, workers));
    },
  };

  return {
    listSecrets: async (call) => {
      const { caller } = call;
      const { workspaceId } = caller;
      const [entries, workers] = await Promise.all([secrets.list(workspaceId), loadDeclaringWorkers(workspaceId)]);
      return respondWithPage(call, entries, (entry) => secretToApi(caller, entry, workers));
    },

    listDeclaredSecrets: async (call) => {
      const { caller } = call;
      const { workspaceId } = caller;
      const [entries, workers] = await Promise.all([secrets.list(workspaceId), loadDeclaringWorkers(workspaceId)]);
      const isSet = new Set(entries.map(({ name }) => name));
      const declared = [...workers.keys()]
        .filter((name) => isDeclaredByVisibleWorker(caller, workers.get(name)))
        .sort();
      return respondWithPage(call, declared, (name) => ({
        name,
        set: isSet.has(name),
        used_by: usedByToApi(caller, workers.get(name)),
      }));
    },

    createSecret: { create: (call) => setSecretValue(call, call.body.name, call.body), ...posted },
    setSecret: (call) => setSecretValue(call, call.path.name, call.body),
    postSecret: { create: (call) => setSecretValue(call, call.path.name, call.body), ...posted },

    deleteSecret: async (call) => {
      const { caller, path, query } = call;
      const { name } = path;
      if (!query.force && (await secrets.test(caller.workspaceId, name)).isSet) {
        requireUnusedResource(caller, `secret "${name}"`, (await loadDeclaringWorkers(caller.workspaceId)).get(name));
      }
      await secrets.delete(caller.workspaceId, name, toAuditEntry(call));
      return noContent();
    },

    testSecret: async ({ caller, path }) => {
      const { isSet, decrypts } = await secrets.test(caller.workspaceId, path.name);
      return ok({ ok: isSet && decrypts, set: isSet, decrypts, tested_at: now().toISOString() });
    },

    rotateSecretKeys: async ({ caller, actor }) => {
      const { workspaceId } = caller;
      const workspace = { workspaceId, resourceType: 'workspace', id: workspaceId };
      const { keyVersion, resealed } = await keyRotation.rotate(workspaceId, (tx, version) =>
        recordChange(tx, actor, 'secret_keys.rotated', workspace, { key_version: version }),
      );
      return ok({ key_version: keyVersion, resealed });
    },
  };
}

/** 201 for one that was never overwritten. */
const computeResponseStatus = ({ createdAt, updatedAt }: SecretEntry): number =>
  createdAt.getTime() === updatedAt.getTime() ? 201 : 200;

const secretToApi = (caller: Principal, entry: SecretEntry, workers: Map<string, DeclaringWorker[]>) => ({
  ...toApiFields(entry, 'name', 'hosts', 'places', 'createdAt', 'updatedAt', 'lastUsedAt'),
  used_by: usedByToApi(caller, workers.get(entry.name)),
});
