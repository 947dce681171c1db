/** Calls of models among the steps of a run. */
import { formatDollars, formatNumber } from '../../ui/format';
import { toJsonObject } from '../../ui/json';
import type { TimelineRun } from './entry';

type Step = TimelineRun['steps'][number];

/** Model, tokens and cost of one call, as far as its record has them. */
export interface ModelCallUsage {
  /** The model that responded. */
  model: string | null;
  inputTokens: number | null;
  outputTokens: number | null;
  /** In US dollars; null without a price. */
  usd: number | null;
}

const MODEL_STEP_PREFIX = 'model.';
const DEFAULT_MODEL = 'default';

export const isModelStep = ({ kind, name }: Pick<Step, 'kind' | 'name'>): boolean =>
  kind === 'tool' && name.startsWith(MODEL_STEP_PREFIX);

/** Returns the name that the code requested; null for the default. */
export function getRequestedModel({ name }: Pick<Step, 'name'>): string | null {
  const model = name.slice(MODEL_STEP_PREFIX.length);
  return model === DEFAULT_MODEL ? null : model;
}

const toNumber = (value: unknown): number | null => (typeof value === 'number' ? value : null);

/** Parses a model's response as steps and transcripts have it; all null where the step keeps no result. */
export function parseModelCallUsage(response: unknown): ModelCallUsage {
  const { model, usage } = toJsonObject(response);
  const { input_tokens: input, output_tokens: output, usd } = toJsonObject(usage);
  return {
    model: typeof model === 'string' ? model : null,
    inputTokens: toNumber(input),
    outputTokens: toNumber(output),
    usd: toNumber(usd),
  };
}

/** Sums the known figures of several calls. */
export function sumModelCallUsage(
  usages: readonly ModelCallUsage[],
): Omit<ModelCallUsage, 'model'> & { calls: number } {
  const sum = (field: 'inputTokens' | 'outputTokens' | 'usd') => {
    const known = usages.flatMap(({ [field]: value }) => (value === null ? [] : [value]));
    return known.length > 0 ? known.reduce((all, one) => all + one, 0) : null;
  };
  return { calls: usages.length, inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens'), usd: sum('usd') };
}

/** Formats the known figures: `812 tokens in, 9 out, $0.0008`; empty where none is known. */
export const formatModelCallUsage = ({ inputTokens, outputTokens, usd }: Omit<ModelCallUsage, 'model'>): string =>
  [
    inputTokens !== null && `${formatNumber(inputTokens)} input tokens`,
    outputTokens !== null && `${formatNumber(outputTokens)} output tokens`,
    usd !== null && formatDollars(usd),
  ]
    .filter(Boolean)
    .join(', ');
