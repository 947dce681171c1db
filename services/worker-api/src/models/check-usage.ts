/** The usage that a provider reports is booked as money: it has to be one that the request can have had. */
import type { Usage } from './model-cost';

type ReportedUsage = { [Count in keyof Omit<Usage, 'isEstimated'>]: number | undefined };

/**
 * @param max that the request can have used
 * @returns null: nothing that can be believed was reported, and the estimate counts
 */
export function checkUsage(
  { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: ReportedUsage,
  max: Pick<Usage, 'inputTokens' | 'outputTokens'>,
): Usage | null {
  if (!isCount(inputTokens, max.inputTokens) || !isCount(outputTokens, max.outputTokens)) return null;
  if (!isCount(cacheReadTokens, inputTokens) || !isCount(cacheWriteTokens, inputTokens - cacheReadTokens)) return null;
  return { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, isEstimated: false };
}

const isCount = (value: number | undefined, max: number): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= max;
