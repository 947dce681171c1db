/** Converts the input schema of a tool to rows. It is untrusted: unexpected parts are left out. */

import { isJsonObject, type JsonObject } from '../ui/json';

export interface ToolArgument {
  /** `filter.state`, `labels[]`. */
  path: string;
  /** 0 for an argument itself. */
  depth: number;
  type: string;
  isRequired: boolean;
  description: string;
  /** "1 to 100", "one of open, closed". */
  limits: string;
}

const ROWS_MAX = 100;
const DEPTH_MAX = 4;
const VALUES_SHOWN = 12;

const TYPE_LABELS: Record<string, string> = {
  string: 'Text',
  integer: 'Whole number',
  number: 'Number',
  boolean: 'Yes or no',
  object: 'Object',
  array: 'List',
  null: 'Null',
};

/** Lists the arguments that a tool's schema declares; the properties of an object follow the object. */
export function listToolArguments(schema: JsonObject): ToolArgument[] {
  return listProperties(schema, '', 0).slice(0, ROWS_MAX);
}

function listProperties(schema: JsonObject, parentPath: string, depth: number): ToolArgument[] {
  if (depth === DEPTH_MAX || !isJsonObject(schema.properties)) return [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties)
    .slice(0, ROWS_MAX)
    .flatMap(([name, given]) => {
      const one = isJsonObject(given) ? given : {};
      const path = parentPath ? `${parentPath}.${name}` : name;
      const row = {
        path,
        depth,
        type: formatSchemaType(one),
        isRequired: required.includes(name),
        limits: formatLimits(one),
        description: typeof one.description === 'string' ? one.description : '',
      };
      const inner = isJsonObject(one.items)
        ? listProperties(one.items, `${path}[]`, depth + 1)
        : listProperties(one, path, depth + 1);
      return [row, ...inner];
    });
}

function formatSchemaType(schema: JsonObject): string {
  const { type, items, format } = schema;
  if (Array.isArray(schema.enum) || 'const' in schema) return 'One of';
  if (type === 'array' && isJsonObject(items) && typeof items.type === 'string') {
    return `List: ${(TYPE_LABELS[items.type] ?? 'any').toLowerCase()}`;
  }
  if (type === 'string' && typeof format === 'string') return `Text: ${format}`;
  const types = [type]
    .flat()
    .filter((one): one is string => typeof one === 'string' && Object.hasOwn(TYPE_LABELS, one));
  if (types.length > 0) return formatAlternatives(types.map((one) => TYPE_LABELS[one] ?? 'Any'));
  const choices = [schema.anyOf, schema.oneOf].find(Array.isArray);
  return formatAlternatives(
    choices ? choices.map((one) => (isJsonObject(one) ? formatSchemaType(one) : 'Any')) : ['Any'],
  );
}

const formatAlternatives = (types: string[]): string =>
  [...new Set(types)].map((one, at) => (at ? one.toLowerCase() : one)).join(' or ');

function formatLimits(schema: JsonObject): string {
  const { minimum, maximum, maxLength, maxItems } = schema;
  const values = 'const' in schema ? [schema.const] : Array.isArray(schema.enum) ? schema.enum : [];
  const shown = values.slice(0, VALUES_SHOWN).map(formatValue);
  return [
    shown.join(', ') + (values.length > shown.length ? ` and ${values.length - shown.length} more` : ''),
    formatRange(minimum, maximum),
    typeof maxLength === 'number' && `up to ${maxLength} characters`,
    typeof maxItems === 'number' && `up to ${maxItems} items`,
    'default' in schema && `default: ${formatValue(schema.default)}`,
  ]
    .filter(Boolean)
    .join('; ');
}

function formatRange(minimum: unknown, maximum: unknown): string {
  const [lowest, highest] = [minimum, maximum].map((one) => (typeof one === 'number' ? one : undefined));
  if (lowest !== undefined && highest !== undefined) return `${lowest} to ${highest}`;
  if (lowest !== undefined) return `${lowest} or more`;
  return highest === undefined ? '' : `${highest} or less`;
}

const VALUE_CHARS_MAX = 80;
const formatValue = (value: unknown): string =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, VALUE_CHARS_MAX);
