/** Answers of the API as results of tools. */
import type { ApiResponse } from '@gantry/http';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { type Json, type OperationShape, SHOWN_ONCE } from './operation-schemas';

export function toToolResult(shape: Pick<OperationShape, 'isList'>, { body, headers }: ApiResponse): CallToolResult {
  const total = headers.get('x-total-count');
  const structured = shape.isList
    ? { items: body, ...(total !== null && { total: Number(total) }) }
    : typeof body === 'object' && body !== null
      ? body
      : {};
  const kept = omitShownOnce(structured) as Json;
  return { content: [{ type: 'text', text: JSON.stringify(kept) }], structuredContent: kept };
}

/** Values that are shown once are for people: an agent's transcript is no place for them. */
function omitShownOnce(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !SHOWN_ONCE.includes(name)));
}

/** The schema of `buildFileResult`. */
export const FILE_OUTPUT = {
  type: 'object' as const,
  properties: { text: { type: 'string', description: 'The full text of the file' } },
  required: ['text'],
  additionalProperties: false,
};

export const buildFileResult = (text: string): CallToolResult => ({
  ...buildTextResult(text),
  structuredContent: { text },
});

const buildTextResult = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });

export const buildErrorResult = (text: string): CallToolResult => ({ ...buildTextResult(text), isError: true });

/** In the words that the API has for people, with every place that was wrong. */
export const toErrorResult = (response: ApiResponse): CallToolResult => buildErrorResult(formatErrorResponse(response));

export function formatErrorResponse({ status, body }: ApiResponse): string {
  const { detail, error, errors } = (typeof body === 'object' && body ? body : {}) as Record<string, unknown>;
  const said = detail ?? error ?? (body || 'refused');
  return `${status}: ${said}${errors ? ` ${JSON.stringify(errors)}` : ''}`;
}

/** The sentence of a refusal of the API. */
export const getDetail = (body: unknown): string => String((body as { detail?: unknown } | null)?.detail ?? 'refused');
