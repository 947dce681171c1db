/** The models that can be asked, by name and by alias. */
import { AppError, invalid } from '@gantry/errors';
import { toApiFields } from '@gantry/http';
import { formatNameSuggestions } from '../connection-tools/nearest-names';
import { findNextPrice, findPriceAt } from './model-cost';
import type { DatedPrice, ModelAliases, ModelProvider } from './model-settings';

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
  providedBy: 'operator' | 'workspace';
  /** The provider with its key, which may have been changed or taken away since. @throws ModelCallError */
  connect(): Promise<ModelProvider>;
  /** Reaches its address. Absent: the address is the operator's, and may be private. */
  fetch?: typeof fetch;
  /** As they were set, in the order in which they begin; none: its calls have no cost. */
  prices: DatedPrice[];
}

export type ModelRegistry = ReturnType<typeof createModelRegistry>;

export interface Models {
  /** Read anew each time, so that what an admin changes holds for the next call of a model, on every replica. */
  forWorkspace(workspaceId: string): Promise<ModelRegistry>;
  /** The same, read up to five seconds ago: each run asks for it, and most workspaces offer none of their own. */
  recentFor(workspaceId: string): Promise<ModelRegistry>;
  /** To be called after a change, so that this replica reads it at once. */
  forget(workspaceId: string): void;
  /** Names of the operator's providers, which no workspace may use. */
  reservedNames: ReadonlySet<string>;
}

/** Aliases that the default is looked for under, before the first model of the first provider. */
const DEFAULTS = ['chat', 'smart'];

/** @param own of a workspace; the operator's come before them, and their names count */
export function createModelRegistry({ providers, aliases }: ModelSettings, own: OfferedModel[] = []) {
  const list = [...providers.flatMap((provider) => listOfferedModels(provider, OPERATORS, aliases)), ...own];
  const byId = new Map(list.map((one) => [one.id, one]));
  const byAlias = new Map(
    Object.entries(aliases).map(([alias, ids]) => [alias, ids.flatMap((id) => byId.get(id) ?? [])]),
  );
  const findModels = (name: string): OfferedModel[] => byAlias.get(name) ?? [byId.get(name) ?? []].flat();
  const byDefault = [...DEFAULTS.map(findModels), list.slice(0, 1)].find((found) => found.length > 0) ?? [];
  /**
   * The models that a name stands for, in the order in which they are to be asked.
   * @param name `provider/model` or an alias; absent: the default
   * @throws AppError 409 `no_model` where none is configured, 400 for an unknown name
   */
  const resolve = (name: string | undefined): [OfferedModel, ...OfferedModel[]] => {
    const [first, ...others] = name === undefined ? byDefault : findModels(name);
    if (first) return [first, ...others];
    if (list.length === 0 || name === undefined) throw createNoModelError();
    const near = formatNameSuggestions(name, [...byAlias.keys(), ...byId.keys()]);
    throw invalid([{ path: 'model', message: `there is no model "${name}"${near}` }], 'unknown_model');
  };
  return {
    list,
    /** The one that is asked first where none is named; undefined: there is none. */
    first: byDefault[0],
    resolve,
    /** The reason why `resolve` throws for that name; null: it does not. */
    findProblem: (name: string | undefined) => findProblem(() => resolve(name)),
  };
}

function findProblem(resolve: () => unknown): string | null {
  try {
    resolve();
    return null;
  } catch (err) {
    if (err instanceof AppError) return err.fields?.[0]?.message ?? err.detail;
    throw err;
  }
}

type ProviderAccess = Pick<OfferedModel, 'providedBy' | 'fetch'> & { connect?: OfferedModel['connect'] };

const OPERATORS: ProviderAccess = { providedBy: 'operator' };

export function listOfferedModels(
  provider: ModelProvider,
  access: ProviderAccess,
  aliases: ModelAliases = {},
): OfferedModel[] {
  const prices = new Map(Object.entries(provider.prices ?? {}));
  return provider.models.map((model) => {
    const id = `${provider.name}/${model}`;
    return {
      connect: async () => provider,
      ...access,
      id,
      provider,
      model,
      aliases: Object.entries(aliases).flatMap(([alias, [first]]) => (first === id ? [alias] : [])),
      prices: prices.get(model) ?? [],
    };
  });
}

/** Explains the settings to the operator: the example works with a server that speaks the protocol of OpenAI. */
const createNoModelError = (): AppError =>
  new AppError(
    'conflict',
    'no_model',
    'no model is configured; an admin can add a connection\'s models with POST /api/models/providers, or the operator can set MODEL_PROVIDERS, for example to [{"name":"local","kind":"openai-compatible","base_url":"http://127.0.0.1:11434/v1","models":["qwen3"]}], and restart worker-api (docs/models.md)',
  );

export function modelToApi(offeredModel: OfferedModel, isDefault: boolean, now: Date) {
  const { provider, prices } = offeredModel;
  const { from = null, price } = findNextPrice(prices, now) ?? {};
  return {
    ...toApiFields(offeredModel, 'id', 'providedBy', 'model', 'aliases'),
    provider: provider.name,
    is_default: isDefault,
    price: findPriceAt(prices, now),
    next_price: from && { from: from.toISOString(), ...price },
  };
}
