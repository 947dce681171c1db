/**
 * JSON Schema of the OpenAPI file, compiled when it is first used.
 *
 * Bounded by what it reads: each schema has a form that stops at the first thing that is wrong, where `maxItems` comes before
 * the items and `maxLength` before the pattern. Ajv's own search for duplicates compares each item with each other one.
 */
import { Ajv2020, type ErrorObject, type Options, type ValidateFunction } from 'ajv/dist/2020';
import type { Schema } from './openapi-document';

export type { ErrorObject };

import { isMoment } from './moment';

export type SchemaCompiler = ReturnType<typeof schemaCompiler>;

/** @param coerce takes the text of a query for the number or boolean that the schema wants */
export function schemaCompiler(schemas: Record<string, Schema>, { coerce = false, defaults = true } = {}) {
  const ajvOf = (allErrors: boolean) =>
    createAjv(schemas, { allErrors, verbose: allErrors, coerceTypes: coerce, useDefaults: defaults });
  let first: Ajv2020 | undefined;
  let all: Ajv2020 | undefined;
  return {
    /** @param every finds everything that is wrong, at a cost that grows with it: for small data */
    compile: (schema: Schema, every: boolean): ValidateFunction => {
      if (every) all ??= ajvOf(true);
      else first ??= ajvOf(false);
      return ((every ? all : first) as Ajv2020).compile(schema);
    },
  };
}

function createAjv(schemas: Record<string, Schema>, options: Options): Ajv2020 {
  // Descriptions, examples and the x-words stand among the keywords.
  const ajv = new Ajv2020({ ...options, strict: false, validateSchema: false, addUsedSchema: false });
  ajv.addFormat('date-time', { type: 'string', validate: isMoment });
  ajv.addFormat('binary', true);
  ajv.addFormat('uri', { type: 'string', validate: (text: string) => URL.canParse(text) });
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    validate: (isOn: boolean, items: unknown[]) => !isOn || new Set(items.map(canonical)).size === items.length,
    error: { message: 'must NOT have duplicate items' },
  });
  for (const [uri, schema] of Object.entries(schemas)) ajv.addSchema(schema, uri);
  return ajv;
}

/** Equal for equal values, whatever the order of their keys. */
function canonical(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  return JSON.stringify(value, (_key, one: unknown) => {
    if (one === null || typeof one !== 'object' || Array.isArray(one)) return one;
    return Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
