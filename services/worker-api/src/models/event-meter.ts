/**
 * Bounds of what the events of one answer hold, whatever the provider's protocol: its names, ids, metadata and calls
 * of tools.
 */
import { parseJson } from '@gantry/http';
import { ModelCallError } from './call-failure';

const DEPTH_MAX = 64;
const VALUES_MAX = 20_000;
/** Providers take names of 64 characters. */
const NAME_CHARS_MAX = 256;
const ID_CHARS_MAX = 2_048;
const CALLS_MAX = 128;
/**
 * The SDK reads all arguments of a call again with each part of them: characters read in an event, and in an answer.
 */
const EVENT_REREAD_MAX = 16_000_000;
const RESPONSE_REREAD_MAX = 1_000_000_000;
/** Signatures of thoughts grow with the thoughts. */
const METADATA_CHARS_MAX = 512 * 1024;

/** Bounds of texts by their key. All other texts are what the model says. */
const CHARS_MAX: Record<string, number> = {
  name: NAME_CHARS_MAX,
  role: NAME_CHARS_MAX,
  type: NAME_CHARS_MAX,
  model: NAME_CHARS_MAX,
  finish_reason: NAME_CHARS_MAX,
  finishReason: NAME_CHARS_MAX,
  stop_reason: NAME_CHARS_MAX,
  id: ID_CHARS_MAX,
  tool_call_id: ID_CHARS_MAX,
  responseId: ID_CHARS_MAX,
  system_fingerprint: ID_CHARS_MAX,
};
/** Stored with a call and sent back to the model, whole. */
const METADATA = new Set(['signature', 'thought_signature', 'thoughtSignature', 'data', 'encrypted_content']);
/** Arguments of a call have whatever keys their tool has. */
const ARGUMENTS = new Set(['args', 'input', 'arguments']);

export const createLimitExceededError = (excess: string): ModelCallError =>
  new ModelCallError('model_malformed', `the response was cut off because it contained ${excess}`, false);

/** The share of an event in the time that the SDK takes. */
export interface EventSize {
  /** Parts of calls of tools. */
  parts: number;
  /** Characters of their arguments that are read again. */
  reread: number;
}

/** @returns to be called with each event. @throws ModelCallError where the answer exceeds a bound */
export function createEventMeter(): (data: string) => EventSize {
  const calls = new Set<unknown>();
  const argumentChars = new Map<unknown, number>();
  let answerReread = 0;
  let cost: EventSize = { parts: 0, reread: 0 };
  let unnamedCalls = 0;
  let metadataChars = 0;

  function countCall(key: unknown): void {
    if (key === undefined) unnamedCalls++;
    else calls.add(key);
    if (calls.size + unnamedCalls > CALLS_MAX) throw createLimitExceededError(`more than ${CALLS_MAX} tool calls`);
  }

  function countPart(key: unknown, text: unknown): void {
    const chars = (argumentChars.get(key) ?? 0) + (typeof text === 'string' ? text.length : 0);
    argumentChars.set(key, chars);
    cost.parts++;
    cost.reread += chars;
    answerReread += chars;
    if (cost.parts > CALLS_MAX)
      throw createLimitExceededError(`an event with more than ${CALLS_MAX} tool call fragments`);
    if (cost.reread > EVENT_REREAD_MAX || answerReread > RESPONSE_REREAD_MAX) {
      throw createLimitExceededError('long tool arguments split into too many parts');
    }
  }

  function measureText(key: string, text: string): void {
    const most = CHARS_MAX[key];
    if (most !== undefined && text.length > most)
      throw createLimitExceededError(`a ${key} of ${text.length} characters`);
    if (METADATA.has(key)) metadataChars += text.length;
    if (metadataChars > METADATA_CHARS_MAX)
      throw createLimitExceededError(`more than ${METADATA_CHARS_MAX} characters of metadata`);
  }

  /** As the protocols of OpenAI, Anthropic and Google have them. */
  function measureCalls(value: Record<string, unknown>): void {
    if (Array.isArray(value.tool_calls)) {
      for (const call of value.tool_calls) {
        const key = call?.index ?? call?.id ?? undefined;
        countCall(key);
        countPart(key, call?.function?.arguments);
      }
    }
    if (value.type === 'tool_use' || value.type === 'server_tool_use') countCall(undefined);
    if (typeof value.functionCall === 'object') countCall(undefined);
  }

  return (data) => {
    const parsed = parseJson(data);
    cost = { parts: 0, reread: 0 };
    // The SDK says what is wrong with it.
    if (parsed === undefined) return cost;
    const left: { key: string; value: unknown; depth: number; isArgument: boolean }[] = [
      { key: '', value: parsed, depth: 1, isArgument: false },
    ];
    let values = 0;
    for (let one = left.pop(); one; one = left.pop()) {
      const { key, value, depth, isArgument } = one;
      if (++values > VALUES_MAX) throw createLimitExceededError(`an event with more than ${VALUES_MAX} values`);
      if (typeof value === 'string' && !isArgument) measureText(key, value);
      if (typeof value !== 'object' || value === null) continue;
      if (depth > DEPTH_MAX) throw createLimitExceededError(`more than ${DEPTH_MAX} levels`);
      const isList = Array.isArray(value);
      if (!isList && !isArgument) measureCalls(value as Record<string, unknown>);
      const size = isList ? value.length : Object.keys(value).length;
      if (values + size > VALUES_MAX) throw createLimitExceededError(`an event with more than ${VALUES_MAX} values`);
      for (const [name, inner] of Object.entries(value)) {
        const own = isList ? key : name;
        left.push({ key: own, value: inner, depth: depth + 1, isArgument: isArgument || ARGUMENTS.has(own) });
      }
    }
    return cost;
  };
}
