/** Parts of a request without a bound in the OpenAPI file: their check would cost whatever the sender likes. */
import { type Operation, readOpenApiDocument, type Schema } from '@gantry/http';

/** Ajv puts texts into a set, and compares each item of any other or unknown type with each other one. */
const UNIQUE_ITEMS_MAX = 500;

/** One line for each part without a bound. */
export function findUnboundedParts(openapiFile: string): string[] {
  const { operations, schemas } = readOpenApiDocument(openapiFile);
  const found = new Set<string>();
  const seen = new Set<Schema>();

  function visit(schemaNode: Schema, where: string): void {
    const named = schemas[String(schemaNode.$ref)];
    const [schema, place] = named
      ? [{ ...named, ...schemaNode }, String(schemaNode.$ref).replace(/.*\//, '')]
      : [schemaNode, where];
    if (seen.has(named ?? schemaNode)) return;
    seen.add(named ?? schemaNode);
    for (const problem of findProblems(schema)) found.add(`${place}: ${problem}`);
    for (const [part, child] of listParts(schema)) visit(child, `${place}${part}`);
  }

  for (const operation of operations) for (const [part, schema] of listRequestSchemas(operation)) visit(schema, part);
  return [...found];
}

export function listRequestSchemas({ id, parameters, body }: Operation): [string, Schema][] {
  return [
    ...parameters.map(({ name, schema }): [string, Schema] => [`${id} ${name}`, schema]),
    ...Object.entries(body?.content ?? {}).map(([type, schema]): [string, Schema] => [`${id} ${type}`, schema]),
  ];
}

function findProblems(schema: Schema): string[] {
  const { maxItems, items, uniqueItems } = schema;
  const problems: string[] = [];
  if (hasType(schema, 'array')) {
    if (typeof maxItems !== 'number') problems.push('a list without maxItems');
    if (
      uniqueItems &&
      (Number(maxItems ?? Number.POSITIVE_INFINITY) > UNIQUE_ITEMS_MAX || !hasType(items as Schema, 'string'))
    ) {
      problems.push(`uniqueItems of more than ${UNIQUE_ITEMS_MAX}, or of items without the type string`);
    }
  }
  const isShort = schema.enum || schema.const !== undefined || /^(date-time|binary)$/.test(String(schema.format));
  if (hasType(schema, 'string') && schema.maxLength === undefined && !isShort)
    problems.push('a text without maxLength');
  const isOpen = schema.additionalProperties !== false && schema.maxProperties === undefined;
  if (hasType(schema, 'object') && isOpen) problems.push('an object with any number of properties');
  return problems;
}

const hasType = (schema: Schema | undefined, type: string): boolean => [schema?.type].flat().includes(type);

function listParts(schema: Schema): [string, Schema][] {
  const { properties = {}, items, additionalProperties } = schema as Record<string, Record<string, Schema>>;
  const parts = Object.entries(properties ?? {}).map(([name, child]): [string, Schema] => [`.${name}`, child]);
  if (items) parts.push(['[]', items as Schema]);
  if (typeof additionalProperties === 'object') parts.push(['.*', additionalProperties as Schema]);
  for (const word of ['anyOf', 'oneOf', 'allOf']) {
    const choices = (schema[word] ?? []) as Schema[];
    parts.push(...choices.map((child, index): [string, Schema] => [` ${word} ${index}`, child]));
  }
  return parts;
}
