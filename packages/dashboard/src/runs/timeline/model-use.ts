/** Calls of models among the steps of a run. */
import { dollars, figure } from '../../ui/format';
import type { TimelineRun } from './entry';

type Step = TimelineRun['steps'][number];

/** Model, tokens and cost of one call, as far as its record has them. */
export interface ModelUse {
  /** The model that responded. */
  model: string | null;
  inputTokens: number | null;
  outputTokens: number | null;
  /** In US dollars; null without a price. */
  usd: number | null;
}

const STEP = 'model.';
const DEFAULT = 'default';

export const isModelStep = ({ kind, name }: Pick<Step, 'kind' | 'name'>): boolean =>
  kind === 'tool' && name.startsWith(STEP);

/** Returns the name that the code requested; null for the default. */
export function askedModel({ name }: Pick<Step, 'name'>): string | null {
  const asked = name.slice(STEP.length);
  return asked === DEFAULT ? null : asked;
}

type Fields = Record<string, unknown>;
const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);

/** Parses a model's response as steps and transcripts have it; all null where the step keeps no result. */
export function modelUse(answer: unknown): ModelUse {
  const { model, usage } = fieldsOf(answer);
  const { input_tokens: input, output_tokens: output, usd } = fieldsOf(usage);
  return {
    model: typeof model === 'string' ? model : null,
    ...{ inputTokens: numberOf(input), outputTokens: numberOf(output), usd: numberOf(usd) },
  };
}

/** Sums the known figures of several calls. */
export function sumOf(uses: readonly ModelUse[]): Omit<ModelUse, 'model'> & { calls: number } {
  const sum = (field: 'inputTokens' | 'outputTokens' | 'usd') => {
    const known = uses.flatMap(({ [field]: value }) => (value === null ? [] : [value]));
    return known.length > 0 ? known.reduce((all, one) => all + one, 0) : null;
  };
  return { calls: uses.length, inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens'), usd: sum('usd') };
}

/** Formats the known figures: `812 tokens in, 9 out, $0.0008`; empty where none is known. */
export const wordsOf = ({ inputTokens, outputTokens, usd }: Omit<ModelUse, 'model'>): string =>
  [
    inputTokens !== null && `${figure(inputTokens)} tokens in`,
    outputTokens !== null && `${figure(outputTokens)} out`,
    usd !== null && dollars(usd),
  ]
    .filter(Boolean)
    .join(', ');
