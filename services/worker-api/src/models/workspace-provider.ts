/** A provider that a workspace offers models of: its rules, and how the API shows it. */
import { toApiFields } from '@gantry/http';
import { isAmongHosts } from '../connections/hosts';
import type { Connection, ModelProvider } from '../generated/prisma/client';
import { modelServices } from '../integrations/catalog/model-services';
import { modelPrices, type ModelProvider as ProviderSettings } from './model-settings';

/** Where its key goes; null for a kind without a usual address. */
export const findProviderUrl = ({ kind, baseUrl }: Pick<ModelProvider, 'kind' | 'baseUrl'>): string | null =>
  baseUrl ?? modelServices.get(kind)?.baseUrl ?? null;

/** As the operator would have configured it, but for the key. */
export function toProviderSettings(provider: ModelProvider, apiKey: string): ProviderSettings {
  const { name, models, timeoutSeconds, maxOutputTokens } = provider;
  return {
    kind: provider.kind as 'openai-compatible',
    name,
    models,
    api_key: apiKey,
    base_url: findProviderUrl(provider) ?? '',
    prices: modelPrices.parse(provider.prices),
    ...(timeoutSeconds !== null && { timeout_seconds: timeoutSeconds }),
    ...(maxOutputTokens !== null && { max_output_tokens: maxOutputTokens }),
  };
}

type Key = Pick<Connection, 'kind' | 'visibility' | 'status' | 'problem' | 'hosts'>;

/** The problem with this connection as a provider's key, as a clause; null: none. */
export function findKeyProblem(provider: Pick<ModelProvider, 'kind' | 'baseUrl'>, key: Key | undefined): string | null {
  if (!key) return 'its connection no longer exists';
  if (key.kind !== 'api_key') return "the provider's connection is not an API key";
  if (key.visibility !== 'workspace')
    return "the provider's connection is private, but models are for the whole workspace; share the connection";
  if (key.status !== 'active')
    return `the provider's connection is not working: ${key.problem ?? `its status is ${key.status}`}`;
  const address = findProviderUrl(provider) ?? '';
  if (isAmongHosts(key.hosts, address)) return null;
  return `its connection can't be used for ${new URL(address).host}; add this host to the connection's hosts`;
}

export interface ProviderView {
  provider: ModelProvider;
  key: Key | undefined;
  /** The operator has one of this name, which counts. */
  isHidden: boolean;
}

export const providerToApi = ({ provider, key, isHidden }: ProviderView) => ({
  ...toApiFields(provider, 'name', 'kind', 'connectionId', 'baseUrl', 'models', 'prices', 'timeoutSeconds'),
  ...toApiFields(provider, 'maxOutputTokens', 'createdBy', 'createdAt', 'updatedAt'),
  problem: isHidden ? "the operator's provider with this name takes precedence" : findKeyProblem(provider, key),
});
