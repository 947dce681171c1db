/** Models that the operator offers: the variables MODEL_PROVIDERS and MODEL_ALIASES. See docs/models.md. */
import { parseJson } from '@gantry/http';
import { z } from 'zod';

/** Name of a provider or an alias: `local`, `smart`. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,49}$/;

const name = z.string().regex(NAME, 'must be 1 to 50 letters, digits, dots, hyphens or underscores');
const model = z.string().min(1).max(200);
const secret = z.string().min(1).max(10_000);
const usd = z.number().min(0).max(100_000);
const text = z.string().min(1).max(200);

const price = z.strictObject({
  input_usd_per_mtok: usd,
  output_usd_per_mtok: usd,
  /** Prices of input that a provider had in its cache, and that it puts there; the price of input when absent. */
  cache_read_usd_per_mtok: usd.optional(),
  cache_write_usd_per_mtok: usd.optional(),
});
export type Price = z.infer<typeof price>;

/** It holds from that moment on, until that of the next; null: from the beginning. */
export interface DatedPrice {
  from: Date | null;
  price: Price;
}

/** A day begins in UTC. */
const from = z.union(
  [z.iso.date(), z.iso.datetime({ offset: true })],
  'must be a date, such as 2026-01-01, or a date and time with a time zone',
);

const datedPrices = z
  .array(price.extend({ from: from.optional() }))
  .min(1, 'must not be empty')
  .max(50)
  .refine(
    (list) => list.length === 1 || list.every((one) => one.from !== undefined),
    'if there are several prices, each must have from',
  )
  .transform((list) =>
    list
      .map(({ from, ...rest }): DatedPrice => ({ from: from === undefined ? null : new Date(from), price: rest }))
      .sort((one, other) => Number(one.from) - Number(other.from)),
  )
  .refine(
    (list) => list.every((one, index) => index === 0 || Number(one.from) !== Number(list[index - 1]?.from)),
    "two prices can't have the same from",
  );

/** By model: one price, or several with the times from which they hold. In the order of those. */
export const modelPrices = z.record(
  z.string().max(200),
  z.preprocess((input) => (Array.isArray(input) ? input : [input]), datedPrices),
);
const commonFields = {
  name,
  models: z.array(model).min(1).max(100),
  prices: modelPrices.optional(),
  /** Until the first word of an answer, and between two. */
  timeout_seconds: z.number().int().min(1).max(300).optional(),
  /** The longest answer of a call. */
  max_output_tokens: z.number().int().min(1).max(128_000).optional(),
};
const address = z.url({ protocol: /^https?$/ }).max(2_048);
const keyedProvider = { ...commonFields, api_key: secret, base_url: address.optional() };

const provider = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('openai-compatible'),
    ...commonFields,
    base_url: address,
    api_key: secret.optional(),
  }),
  z.strictObject({ kind: z.literal(['openai', 'anthropic', 'google', 'mistral']), ...keyedProvider }),
  z.strictObject({
    kind: z.literal('bedrock'),
    ...commonFields,
    base_url: address.optional(),
    region: text,
    api_key: secret.optional(),
    access_key_id: text.optional(),
    secret_access_key: secret.optional(),
    session_token: secret.optional(),
  }),
]);
export type ModelProvider = z.infer<typeof provider>;

const target = z.string().min(3).max(260);
const aliases = z.record(name, z.union([target, z.array(target).min(1).max(10)]));

/** Names of models as `provider/model`, in the order in which they are tried, by alias. */
export type ModelAliases = Record<string, string[]>;

const PROVIDERS_EXAMPLE =
  '[{"name": "local", "kind": "openai-compatible", "base_url": "http://127.0.0.1:11434/v1", "models": ["qwen3"]}]';

export const modelProviders = z
  .string()
  .default('')
  .transform((input, context): ModelProvider[] => {
    const read = parseJsonSetting(
      input,
      z.array(provider).max(50),
      `must be a JSON array, such as ${PROVIDERS_EXAMPLE}`,
      context,
    );
    if (!read) return z.NEVER;
    for (const [index, { name: own, models, prices = {}, ...rest }] of read.entries()) {
      const addIssue = (message: string) =>
        context.addIssue({ code: 'custom', message: `${index} (${own}): ${message}` });
      // Bounded: 50 providers, which the operator configures.
      if (read.findIndex((one) => one.name === own) < index) addIssue('name: another provider has this name');
      for (const priced of Object.keys(prices)) {
        // Bounded: read once, from the operator's configuration.
        if (!models.includes(priced)) addIssue(`prices: "${priced}" is not listed in models`);
      }
      if (rest.kind === 'bedrock' && !rest.api_key && !(rest.access_key_id && rest.secret_access_key)) {
        addIssue('needs api_key, or access_key_id and secret_access_key');
      }
    }
    return read;
  });

export const modelAliases = z
  .string()
  .default('')
  .transform((input, context): ModelAliases => {
    const example = 'must be a JSON object, such as {"smart": "local/qwen3"}';
    const read = parseJsonSetting(input, aliases, example, context, {});
    if (!read) return z.NEVER;
    return Object.fromEntries(Object.entries(read).map(([alias, targets]) => [alias, [targets].flat()]));
  });

/** Aliases whose models no provider has, a sentence each. */
export const listAliasProblems = (input: ModelAliases, providers: ModelProvider[]): string[] => {
  const known = providers.flatMap((one) => one.models.map((each) => `${one.name}/${each}`));
  // Bounded: read once, from the operator's configuration.
  return Object.entries(input).flatMap(([alias, targets]) =>
    targets
      .filter((one) => !known.includes(one))
      .map((one) => `${alias}: MODEL_PROVIDERS has no model "${one}"; available: ${known.join(', ') || 'none'}`),
  );
};

/** One issue for each thing that is wrong; none repeats a value, which may be a key. */
function parseJsonSetting<T>(
  input: string,
  schema: z.ZodType<T>,
  example: string,
  context: z.RefinementCtx<string>,
  empty: unknown = [],
): T | undefined {
  const json = input.trim() === '' ? empty : parseJson(input);
  const result = schema.safeParse(json);
  if (result.success) return result.data;
  const isShaped = typeof json === 'object' && json !== null && Array.isArray(json) === Array.isArray(empty);
  for (const issue of isShaped ? result.error.issues : result.error.issues.slice(0, 1)) {
    const place = issue.path.join('.');
    context.addIssue({ code: 'custom', message: isShaped ? `${place || 'the whole'}: ${issue.message}` : example });
  }
  return undefined;
}
