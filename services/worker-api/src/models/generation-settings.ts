/** Settings of an answer: temperature, choice of tools, reasoning. Unsupported ones are ignored and reported. */
import type { reasoningEfforts, ToolFailure } from '@gantry/events';
import type { JSONValue } from 'ai';
import { buildFailure } from '../connection-tools/tool-result';
import type { OfferedTool } from './model-call-request';
import type { ModelProvider } from './model-settings';

export type ToolChoice = 'auto' | 'none' | 'required' | { type: 'tool'; toolName: string };
export type ReasoningEffort = (typeof reasoningEfforts)[number];

export interface GenerationSettings {
  temperature?: number | undefined;
  toolChoice?: ToolChoice | undefined;
  reasoning?: ReasoningEffort | undefined;
}

/** @returns undefined where there is nothing to choose from */
export function parseToolChoice(
  name: string | undefined,
  tools: OfferedTool[],
): { choice: ToolChoice | undefined } | { failed: ToolFailure } {
  const isOpen = name === undefined || name === 'auto' || name === 'none';
  if (isOpen) return { choice: tools.length ? name : undefined };
  if (name === 'required' && tools.length) return { choice: name };
  const chosen = tools.find((tool) => tool.name === name || findServedToolName(tool) === name);
  if (chosen) return { choice: { type: 'tool', toolName: chosen.name } };
  const problem = name === 'required' ? 'no tools were given' : `tools has no tool named ${name}`;
  return buildFailure('invalid_arguments', `tool_choice: ${problem}`);
}

/** As an agent declares it. */
function findServedToolName({ serves }: OfferedTool): string | undefined {
  if (!serves) return undefined;
  return 'worker' in serves ? `worker:${serves.worker}` : `${serves.connection}.${serves.tool}`;
}

/** Tokens of thought, which count as output. */
const GOOGLE_BUDGETS = { low: 1_024, medium: 8_192, high: 24_576 };

/** As the provider's package takes it; null: it does not. */
export function buildReasoningOptions(
  kind: ModelProvider['kind'],
  effort: ReasoningEffort,
): Record<string, Record<string, JSONValue>> | null {
  switch (kind) {
    case 'openai-compatible':
      return { openaiCompatible: { reasoningEffort: effort } };
    case 'openai':
      return { openai: { reasoningEffort: effort } };
    case 'anthropic':
      return { anthropic: { effort } };
    case 'google':
      return { google: { thinkingConfig: { thinkingBudget: GOOGLE_BUDGETS[effort] } } };
    case 'mistral':
      return effort === 'high' ? { mistral: { reasoningEffort: effort } } : null;
    case 'bedrock':
      return { bedrock: { reasoningConfig: { maxReasoningEffort: effort } } };
  }
}

interface Warning {
  type: string;
  feature?: string;
  details?: string | undefined;
}

const FEATURES = {
  temperature: /temperature/i,
  toolChoice: /tool.?choice/i,
  reasoning: /reason|effort|think/i,
} as const;
const DETAILS_CHARS_MAX = 300;

/** Which of the settings the SDK has left out, as it reports. */
export function listIgnoredSettings(settings: GenerationSettings, warnings: readonly Warning[]): string[] {
  return warnings.flatMap(({ type, feature = '', details }) => {
    const isOurs = Object.entries(FEATURES).some(
      ([name, pattern]) => settings[name as keyof GenerationSettings] !== undefined && pattern.test(feature),
    );
    return type === 'unsupported' && isOurs
      ? [`${feature}${details ? `: ${details.slice(0, DETAILS_CHARS_MAX)}` : ''}`]
      : [];
  });
}
