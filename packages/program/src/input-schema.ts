/**
 * Converts a program's inputs to JSON Schema: used to validate a run's inputs, to generate the form, and as
 * a tool's input schema. The only place where the two forms meet.
 */
import type { InputItem } from './items';

export interface InputSchema {
  [key: string]: unknown;
  type: 'object';
  additionalProperties: false;
  properties: Record<string, Record<string, unknown>>;
  required: string[];
}

export function toInputSchema(items: InputItem[]): InputSchema {
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(items.map((item) => [item.name, toProperty(item)])),
    required: items.filter((item) => item.required).map((item) => item.name),
  };
}

function toProperty(item: InputItem): Record<string, unknown> {
  return {
    ...(item.label && { title: item.label }),
    ...(item.description && { description: item.description }),
    ...toTypeSchema(item),
    ...(item.default !== undefined && { default: item.default }),
  };
}

function toTypeSchema(item: InputItem): Record<string, unknown> {
  switch (item.type) {
    case 'number':
    case 'integer':
      return { type: item.type, ...omitUndefined({ minimum: item.minimum, maximum: item.maximum }) };
    case 'boolean':
      return { type: 'boolean' };
    case 'select':
      return { enum: (item.options ?? []).map(({ value }) => value) };
    case 'date':
      return { type: 'string', format: 'date' };
    case 'url':
      return { type: 'string', format: 'uri', ...toTextLimits(item) };
    case 'json':
      return {};
    case 'file':
      return FILE_SCHEMA;
    default:
      return { type: 'string', ...toTextLimits(item) };
  }
}

const toTextLimits = (item: InputItem) => {
  // An empty text is no answer to a required question.
  const minLength = item.min_length ?? (item.required ? 1 : undefined);
  return omitUndefined({ minLength, maxLength: item.max_length, pattern: item.pattern });
};

const omitUndefined = (limits: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));

/** Bytes in the body, or an upload of the same workspace: exactly one of the two. */
const FILE_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[^/\\\\\\u0000-\\u001f\\p{Surrogate}]+$' },
    content_base64: { type: 'string', contentEncoding: 'base64' },
    storageKey: { type: 'string', maxLength: 300 },
  },
  required: ['name'],
};
