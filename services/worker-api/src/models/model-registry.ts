/** The models of the operator's configuration, by name and by alias. */
import { AppError, invalid } from '@gantry/http';
import type { DatedPrice, ModelAliases, ModelProvider } from '../model-settings';
import { nearest } from '../nearest-names';
import { nextPrice, priceAt } from './model-cost';

export interface ModelSettings {
  providers: ModelProvider[];
  aliases: ModelAliases;
}

export interface OfferedModel {
  /** `provider/model` */
  id: string;
  provider: ModelProvider;
  model: string;
  /** That ask it first. */
  aliases: string[];
  /** As they were set, in the order in which they begin; none: its calls have no cost. */
  prices: DatedPrice[];
}

export interface ModelRegistry {
  list: OfferedModel[];
  /** The one that is asked first where none is named; undefined: there is none. */
  first: OfferedModel | undefined;
  /**
   * The models that a name stands for, in the order in which they are to be asked.
   * @param name `provider/model` or an alias; absent: the default
   * @throws AppError 503 `no_model` where none is configured, 400 for an unknown name
   */
  resolve(name: string | undefined): [OfferedModel, ...OfferedModel[]];
}

/** Aliases that the default is looked for under, before the first model of the first provider. */
const DEFAULTS = ['chat', 'smart'];

export function modelRegistry({ providers, aliases }: ModelSettings): ModelRegistry {
  const list = providers.flatMap((provider) => provider.models.map((model) => offered(provider, model, aliases)));
  const byId = new Map(list.map((one) => [one.id, one]));
  const byAlias = new Map(
    Object.entries(aliases).map(([alias, ids]) => [alias, ids.flatMap((id) => byId.get(id) ?? [])]),
  );
  const find = (name: string): OfferedModel[] => byAlias.get(name) ?? [byId.get(name) ?? []].flat();
  const byDefault = [...DEFAULTS.map(find), list.slice(0, 1)].find((found) => found.length > 0) ?? [];
  return {
    list,
    first: byDefault[0],
    resolve: (name) => {
      const [first, ...others] = name === undefined ? byDefault : find(name);
      if (first) return [first, ...others];
      if (list.length === 0 || name === undefined) throw noModel();
      const near = nearest(name, [...byAlias.keys(), ...byId.keys()]);
      throw invalid([{ path: 'model', message: `there is no model "${name}"${near}` }], 'unknown_model');
    },
  };
}

function offered(provider: ModelProvider, model: string, aliases: ModelAliases): OfferedModel {
  const id = `${provider.name}/${model}`;
  return {
    ...{ id, provider, model },
    aliases: Object.entries(aliases).flatMap(([alias, [first]]) => (first === id ? [alias] : [])),
    prices: new Map(Object.entries(provider.prices ?? {})).get(model) ?? [],
  };
}

/** For whoever configures the installation: the example works with a server that speaks the protocol of OpenAI. */
const noModel = (): AppError =>
  new AppError(
    'unavailable',
    'no_model',
    'no model is configured; the operator sets MODEL_PROVIDERS, such as [{"name":"local","kind":"openai-compatible","base_url":"http://127.0.0.1:11434/v1","models":["qwen3"]}], and starts worker-api again (docs/models.md)',
  );

export function modelToApi({ id, provider, model, aliases, prices }: OfferedModel, isDefault: boolean, now: Date) {
  const { from = null, price } = nextPrice(prices, now) ?? {};
  return {
    ...{ id, provider: provider.name, model, aliases, is_default: isDefault, price: priceAt(prices, now) },
    next_price: from && { from: from.toISOString(), ...price },
  };
}
