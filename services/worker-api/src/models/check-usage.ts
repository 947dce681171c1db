/** The usage that a provider reports is booked as money: it has to be one that the request can have had. */
import type { Usage } from './model-cost';

type Reported = { [Count in keyof Omit<Usage, 'isEstimated'>]: number | undefined };

/**
 * @param most that the request can have used
 * @returns null: nothing that can be believed was reported, and the estimate counts
 */
export function checkUsage(
  { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Reported,
  most: Pick<Usage, 'inputTokens' | 'outputTokens'>,
): Usage | null {
  if (!isCount(inputTokens, most.inputTokens) || !isCount(outputTokens, most.outputTokens)) return null;
  if (!isCount(cacheReadTokens, inputTokens) || !isCount(cacheWriteTokens, inputTokens - cacheReadTokens)) return null;
  return { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, isEstimated: false };
}

const isCount = (value: number | undefined, most: number): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= most;
