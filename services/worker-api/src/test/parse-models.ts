import type { ModelSettings } from '../models/model-registry';
import { modelAliases, modelProviders } from '../models/model-settings';

/** One model with prices, of a provider at this address. */
export const parsePricedModel = (baseUrl: string): ModelSettings =>
  parseModels([
    {
      name: 'local',
      kind: 'openai-compatible',
      base_url: baseUrl,
      models: ['m'],
      max_output_tokens: 1_000,
      prices: { m: { input_usd_per_mtok: 1, output_usd_per_mtok: 2 } },
    },
  ]);

/** As the service reads them from its environment. */
export const parseModels = (providers: unknown[], aliases: object = {}): ModelSettings => ({
  providers: modelProviders.parse(JSON.stringify(providers)),
  aliases: modelAliases.parse(JSON.stringify(aliases)),
});

/** Builds the settings of a provider with one priced model, which `startScriptedModel` plays. */
export const buildScriptedProvider = (baseUrl: string) => ({
  name: 'local',
  kind: 'openai-compatible',
  base_url: baseUrl,
  models: ['m'],
  max_output_tokens: 1_000,
  prices: { m: { input_usd_per_mtok: 1, output_usd_per_mtok: 2 } },
});
