/** The models of each workspace: the operator's, and those that it offers itself with the keys of its connections. */

import { findConnection } from '../connections/connection-repository';
import { openCredentialOrNull } from '../connections/credential';
import type { ModelProvider as ProviderRow } from '../generated/prisma/client';
import { ModelCallError } from './call-failure';
import type { ModelDeps } from './model-deps';
import { createOutboundFetch } from './model-fetch';
import {
  createModelRegistry,
  listOfferedModels,
  type ModelRegistry,
  type ModelSettings,
  type Models,
} from './model-registry';
import type { ModelProvider } from './model-settings';
import { listModelProviders } from './provider-repository';
import { findKeyProblem, toProviderSettings } from './workspace-provider';

type ModelsDeps = Pick<ModelDeps, 'prisma' | 'vault' | 'outboundAllow' | 'log'>;

export function createWorkspaceModels(deps: ModelsDeps, settings: ModelSettings): Models {
  const operators = createModelRegistry(settings);
  const reservedNames = new Set(settings.providers.map(({ name }) => name));
  const fetch = createOutboundFetch(deps.outboundAllow);
  const recent = new Map<string, { registry: Promise<ModelRegistry>; until: number }>();

  async function forWorkspace(workspaceId: string): Promise<ModelRegistry> {
    const rows = await listModelProviders(deps.prisma, workspaceId);
    if (!rows.length) return operators;
    const own = rows
      .filter(({ name }) => !reservedNames.has(name))
      .flatMap((row) => {
        const loadProvider = () => loadKeyedProvider(deps, row);
        return listOfferedModels(toProviderSettings(row, ''), {
          providedBy: 'workspace',
          fetch,
          connect: loadProvider,
        });
      });
    return createModelRegistry(settings, own);
  }

  return {
    reservedNames,
    forWorkspace,
    recentFor(workspaceId) {
      const known = recent.get(workspaceId);
      if (known && performance.now() < known.until) return known.registry;
      if (recent.size >= RECENT_MAX) recent.clear();
      const registry = forWorkspace(workspaceId);
      recent.set(workspaceId, { registry, until: performance.now() + RECENT_MS });
      registry.catch(() => recent.delete(workspaceId));
      return registry;
    },
    forget: (workspaceId) => void recent.delete(workspaceId),
  };
}

const RECENT_MS = 5_000;
const RECENT_MAX = 1_000;

/** @throws ModelCallError where its connection cannot be used any more */
async function loadKeyedProvider(deps: ModelsDeps, row: ProviderRow): Promise<ModelProvider> {
  const createUnauthorizedError = (reason: string) =>
    new ModelCallError('model_unauthorized', `${row.name}: ${reason}`, false);
  const connection = await findConnection(deps.prisma, row.workspaceId, row.connectionId);
  const problem = findKeyProblem(row, connection ?? undefined);
  if (!connection || problem !== null) throw createUnauthorizedError(problem ?? 'its connection no longer exists');
  const credential = await openCredentialOrNull(deps, connection);
  if (credential?.kind !== 'api_key')
    throw createUnauthorizedError('the stored credential of its connection cannot be decrypted');
  return toProviderSettings(row, credential.value);
}
