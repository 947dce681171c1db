/** The answer of a tool, as code gets it and as it is recorded. All of it is a stranger's. */
import type { ToolFailure } from '@gantry/events';
import { isDeeperThan } from '@gantry/http';
import { maskAndTruncate, maskStrings, type Redactor } from '@gantry/masking';
import type { ToolOutcome } from '@gantry/run-engine';
import type { McpCallResult } from '../connections/mcp-client-types';

/** As deep as the output of a run may be: levels of lists and objects, without the values in the last one. */
const DEPTH_MAX = 64;
const MESSAGE_CHARS_MAX = 1_500;

/** Structured content where there is some, else the text; where a part is neither, the list of all parts. */
export function toMcpOutcome({ isError, structuredContent, content }: McpCallResult): ToolOutcome {
  const texts = content.flatMap((part) => (part.type === 'text' && typeof part.text === 'string' ? [part.text] : []));
  if (isError) {
    const said = texts.join('\n').trim() || 'the tool failed without giving a reason';
    return { failed: { code: 'tool_error', message: said }, isFinal: false };
  }
  if (structuredContent !== undefined) return { result: structuredContent };
  return { result: texts.length === content.length ? texts.join('\n') : content };
}

/**
 * Builds a failure from the platform's own text. Texts of the other side are cut by `maskAndTruncate`, which masks
 * them first.
 */
export const createToolFailure = (code: ToolFailure['code'], message: string): ToolFailure => ({
  code,
  message: message.length > MESSAGE_CHARS_MAX ? `${message.slice(0, MESSAGE_CHARS_MAX)}…` : message,
});

export const buildFailure = (code: ToolFailure['code'], message: string): { failed: ToolFailure } => ({
  failed: createToolFailure(code, message),
});

/** Without what PostgreSQL does not take as text. */
export const toStorableText = (text: string): string => text.replaceAll(/[\0\p{Cs}]/gu, '\ufffd');

/**
 * Without secrets of the run and of the connection, which the other side may have sent back, and without text that is
 * not stored.
 */
export async function maskOutcome(outcome: ToolOutcome, redactor: Redactor): Promise<ToolOutcome> {
  if ('failed' in outcome) {
    const message = toStorableText(maskAndTruncate(redactor, outcome.failed.message, MESSAGE_CHARS_MAX));
    return { ...outcome, failed: { ...outcome.failed, message } };
  }
  if (isDeeperThan(outcome.result, DEPTH_MAX + 1)) {
    const message = `the result is nested more than ${DEPTH_MAX} levels deep`;
    return { failed: createToolFailure('too_large', message), isFinal: true };
  }
  return { result: await maskStrings(redactor, outcome.result, toStorableText) };
}
