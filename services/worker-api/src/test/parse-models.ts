import type { ModelSettings } from '../models/model-registry';
import { modelAliases, modelProviders } from '../models/model-settings';

/** As the service reads them from its environment. */
export const parseModels = (providers: unknown[], aliases: object = {}): ModelSettings => ({
  providers: modelProviders.parse(JSON.stringify(providers)),
  aliases: modelAliases.parse(JSON.stringify(aliases)),
});
