/** The models of each workspace: the operator's, and those that it offers itself with the keys of its connections. */

import type { Vault } from '@gantry/vault';
import type { Logger } from 'pino';
import { findConnection } from '../connections/connection-repository';
import { readCredential } from '../connections/credential';
import type { PrismaClient, ModelProvider as ProviderRow } from '../generated/prisma/client';
import type { ModelProvider } from '../model-settings';
import { ModelFailed } from './call-failure';
import { outboundFetch } from './model-fetch';
import { type ModelSettings, type Models, modelRegistry, offered } from './model-registry';
import { listModelProviders } from './provider-repository';
import { keyProblem, settingsOf } from './workspace-provider';

interface ModelsDeps {
  prisma: PrismaClient;
  vault: Vault;
  /** Private addresses that workspaces may name. */
  outboundAllow: string[];
  log: Logger;
}

export function createModels(deps: ModelsDeps, settings: ModelSettings): Models {
  const operators = modelRegistry(settings);
  const reservedNames = new Set(settings.providers.map(({ name }) => name));
  const fetch = outboundFetch(deps.outboundAllow);
  return {
    reservedNames,
    forWorkspace: async (workspaceId) => {
      const rows = await listModelProviders(deps.prisma, workspaceId);
      if (!rows.length) return operators;
      const own = rows
        .filter(({ name }) => !reservedNames.has(name))
        .flatMap((row) => {
          const connect = () => withKey(deps, row);
          return offered(settingsOf(row, ''), { providedBy: 'workspace', fetch, connect });
        });
      return modelRegistry(settings, own);
    },
  };
}

/** @throws ModelFailed where its connection cannot be used any more */
async function withKey(deps: ModelsDeps, row: ProviderRow): Promise<ModelProvider> {
  const failed = (why: string) => new ModelFailed('model_unauthorized', `${row.name}: ${why}`, false);
  const connection = await findConnection(deps.prisma, row.workspaceId, row.connectionId);
  const problem = keyProblem(row, connection ?? undefined);
  if (!connection || problem !== null) throw failed(problem ?? 'its connection is gone');
  const credential = await readCredential(deps, connection);
  if (credential?.kind !== 'api_key') throw failed('what is stored of its connection cannot be decrypted');
  return settingsOf(row, credential.value);
}
