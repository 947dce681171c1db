import { type Call, created, noContent, type Operations, ok, respondWithPage } from '@gantry/http';
import { findConnections } from '../connections/connection-repository';
import type { ModelProvider } from '../generated/prisma/client';
import type { ModelDeps } from './model-deps';
import { modelToApi } from './model-registry';
import { getModelProvider, listModelProviders } from './provider-repository';
import { createModelProvider, editModelProvider, removeModelProvider, setModelPrices } from './provider-service';
import { providerToApi } from './workspace-provider';

export function createModelProviderOperations(deps: ModelDeps): Operations<'worker'> {
  const { prisma, models, now } = deps;

  async function listVisibleProviders(workspaceId: string, providers: ModelProvider[]) {
    const ids = [...new Set(providers.map(({ connectionId }) => connectionId))];
    const keys = new Map((await findConnections(prisma, workspaceId, ids)).map((key) => [key.id, key]));
    return providers.map((provider) => {
      const isHidden = models.reservedNames.has(provider.name);
      return providerToApi({ provider, key: keys.get(provider.connectionId), isHidden });
    });
  }

  const loadVisibleProvider = async (provider: ModelProvider) =>
    (await listVisibleProviders(provider.workspaceId, [provider]))[0];

  const getRequestedProvider = ({ caller }: Pick<Call, 'caller'>, name: string): Promise<ModelProvider> =>
    getModelProvider(prisma, caller.workspaceId, name);

  const auditChange = <T>({ caller }: Pick<Call, 'caller'>, change: Promise<T>): Promise<T> =>
    change.finally(() => models.forget(caller.workspaceId));

  return {
    listModelProviders: async (call) => {
      const { workspaceId } = call.caller;
      return respondWithPage(
        call,
        await listVisibleProviders(workspaceId, await listModelProviders(prisma, workspaceId)),
        (provider) => provider,
      );
    },
    createModelProvider: {
      create: async (call) =>
        created(await loadVisibleProvider(await auditChange(call, createModelProvider(deps, call, call.body)))),
      assertVisible: getRequestedProvider,
      answer: async (call, name) => created(await loadVisibleProvider(await getRequestedProvider(call, name))),
    },
    getModelProvider: async (call) =>
      ok(await loadVisibleProvider(await getRequestedProvider(call, call.path.provider_name))),
    updateModelProvider: async (call) =>
      ok(
        await loadVisibleProvider(
          await auditChange(call, editModelProvider(deps, call, call.path.provider_name, call.body)),
        ),
      ),
    deleteModelProvider: async (call) =>
      auditChange(call, removeModelProvider(deps, call, call.path.provider_name)).then(noContent),
    setModelPrices: async (call) => {
      await setModelPrices(deps, call, call.body.prices);
      const { list, first } = await models.forWorkspace(call.caller.workspaceId);
      const priced = list.filter(({ id }) => Object.hasOwn(call.body.prices, id));
      return ok(priced.map((model) => modelToApi(model, model === first, now())));
    },
  };
}
