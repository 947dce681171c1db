/** Computes the cost of a model call, in US dollars. */
import type { DatedPrice, Price } from './model-settings';

export interface Usage {
  /** All of it. */
  inputTokens: number;
  /** Parts of the input: read from the provider's cache, and written to it. */
  cacheReadTokens: number;
  cacheWriteTokens: number;
  outputTokens: number;
  /** The provider told nothing, so this is from the length of the texts. */
  isEstimated: boolean;
}

/** English text has about four bytes in a token, JSON and other languages fewer. */
export const BYTES_PER_TOKEN = 3;
const MTOK = 1_000_000;

export const estimateTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);

const IMAGE_TOKENS = 5_000;
const PDF_TOKENS_MAX = 100 * (3_000 + 1_600);
const PDF = '%PDF-';

/**
 * The most that an image or a PDF is likely to be counted as, for what is reserved before a call. Images, by the
 * providers' pages on vision: Claude counts patches of 28 x 28 pixels, at most 4,784 of them; GPT-4o 85 and 170 for
 * each of at most 8 tiles; Gemini 258 for each tile of 768 x 768 pixels. PDFs, by Anthropic's page on them: up to 3,000
 * for the text of a page and an image of it, 100 pages; a small one is estimated as text of its size.
 */
export function estimateFileTokens(data: Uint8Array): number {
  const isPdf = Buffer.from(data.subarray(0, PDF.length)).toString('latin1') === PDF;
  return isPdf ? Math.min(IMAGE_TOKENS + Math.ceil(data.length / BYTES_PER_TOKEN), PDF_TOKENS_MAX) : IMAGE_TOKENS;
}

/** The one that holds at that time; null: none does yet. @param prices in the order in which they begin */
export const findPriceAt = (prices: DatedPrice[], now: Date): Price | null =>
  prices.findLast(({ from }) => from === null || from <= now)?.price ?? null;

/** The one that will hold after it. */
export const findNextPrice = (prices: DatedPrice[], now: Date): DatedPrice | undefined =>
  prices.find(({ from }) => from !== null && from > now);

/** The most that a call with this input can cost; null without a price. */
export function computeMaxCost(price: Price | null, inputTokens: number, maxOutputTokens: number): number | null {
  if (!price) return null;
  const input = Math.max(price.input_usd_per_mtok, price.cache_write_usd_per_mtok ?? 0);
  return (inputTokens * input + maxOutputTokens * price.output_usd_per_mtok) / MTOK;
}

export function computeCost(price: Price | null, usage: Usage): number | null {
  if (!price) return null;
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = usage;
  const plain = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  const { input_usd_per_mtok: input, output_usd_per_mtok: output } = price;
  const { cache_read_usd_per_mtok: read = input, cache_write_usd_per_mtok: write = input } = price;
  return (plain * input + cacheReadTokens * read + cacheWriteTokens * write + outputTokens * output) / MTOK;
}
