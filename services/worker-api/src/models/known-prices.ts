/**
 * List prices of well-known models, by the kind of provider and the beginning of the model's name: a dated snapshot costs as
 * much as the model that it is of. Nothing else is guessed; operators price other models in MODEL_PROVIDERS, and their price wins.
 */
import type { ModelProvider, Price } from '../model-settings';

/** When the tables were looked up. */
export const KNOWN_ON = '2025-11-15';

const ofAnthropic = (input: number, output: number): Price => ({
  ...{ input_usd_per_mtok: input, output_usd_per_mtok: output },
  ...{ cache_read_usd_per_mtok: input / 10, cache_write_usd_per_mtok: input * 1.25 },
});

const of = (input: number, cached: number, output: number): Price => ({
  ...{ input_usd_per_mtok: input, output_usd_per_mtok: output, cache_read_usd_per_mtok: cached },
});

const KNOWN: Partial<Record<ModelProvider['kind'], Record<string, Price>>> = {
  anthropic: { 'claude-haiku-4-5': ofAnthropic(1, 5) },
  openai: {
    'gpt-4o': of(2.5, 1.25, 10),
    'gpt-4o-mini': of(0.15, 0.075, 0.6),
    'gpt-4.1': of(2, 0.5, 8),
    'gpt-4.1-mini': of(0.4, 0.1, 1.6),
    'gpt-5': of(1.25, 0.125, 10),
    'gpt-5-mini': of(0.25, 0.025, 2),
  },
};

/** A date behind the name of a model: `-20251001`, `-2024-08-06`. */
const SNAPSHOT = /-(\d{8}|\d{4}-\d{2}-\d{2})$/;

export const knownPrice = (kind: ModelProvider['kind'], model: string): Price | undefined => {
  const prices = new Map(Object.entries(KNOWN[kind] ?? {}));
  return prices.get(model) ?? prices.get(model.replace(SNAPSHOT, ''));
};
