/**
 * A value that fits a JSON Schema. The schema is part of the prompt and not of the request: providers take different
 * parts of JSON Schema and refuse the rest, and models of local servers take none.
 */
import { isDeeperThan } from '@gantry/http';
import { listSchemaProblems } from '../connection-tools/check-arguments';
import type { ModelCallRequest } from './model-call-request';

export const buildSchemaPrompt = (system: string, schema: object): string =>
  [system, `Respond with one JSON value, and nothing else, that matches this JSON Schema: ${JSON.stringify(schema)}`]
    .filter(Boolean)
    .join('\n\n');

const DEPTH_MAX = 64;
const FENCE = '```';

/** Returns the content of a fenced block, if the text is one. */
function stripFence(text: string): string {
  const whole = text.trim();
  if (!whole.startsWith(FENCE) || !whole.endsWith(FENCE)) return whole;
  return whole.slice(whole.indexOf('\n') + 1, -FENCE.length);
}

/** @returns the value, or in words for the model what is wrong */
export function parseValue(text: string, schema: Record<string, unknown>): { value: unknown } | { problems: string[] } {
  let value: unknown;
  try {
    value = JSON.parse(stripFence(text));
  } catch (err) {
    return { problems: [`it is not valid JSON: ${(err as Error).message.slice(0, 200)}`] };
  }
  if (isDeeperThan(value, DEPTH_MAX)) return { problems: [`it is nested deeper than ${DEPTH_MAX} levels`] };
  const problems = listSchemaProblems(schema, value, 'the value');
  return problems.length ? { problems } : { value };
}

export const buildRepairMessages = (text: string, problems: string[]): ModelCallRequest['messages'] => [
  { role: 'assistant', content: text },
  {
    role: 'user',
    content: `Your response is invalid: ${problems.join('; ')}. Respond with the whole JSON value and nothing else.`,
  },
];
