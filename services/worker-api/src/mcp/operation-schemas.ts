/** Schemas of tools, made of the OpenAPI documents that the services answer by. */
import { readFileSync } from 'node:fs';
import { openapiFiles, type Surface } from '@gantry/openapi';

export type Json = Record<string, unknown>;

export interface OperationShape {
  method: string;
  /** `/api/workers/{worker_id}` */
  path: string;
  /** Where each argument goes. */
  arguments: Map<string, 'path' | 'query' | 'body'>;
  input: Json;
  /** The schema of a JSON response; a list is under `items`. */
  output: Json | undefined;
  isList: boolean;
}

interface Document {
  paths: Record<string, Record<string, Json>>;
  components: Record<string, Record<string, Json>>;
}

type Parameter = {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: Json;
};

/** Given once by its creator and to be kept by people: no tool passes it on. */
export const SHOWN_ONCE = ['webhook_secret', 'webhook_signing_key', 'secret', 'token'];

const POINTER = '#/components/schemas/';

/** @returns the shape of an operation. @throws Error for an operation that is not in the surface's document */
export function createShapeResolver(): (surface: Surface, operationId: string) => OperationShape {
  const documents = new Map<Surface, Document>();
  return (surface, operationId) => {
    let document = documents.get(surface);
    if (!document) {
      document = JSON.parse(readFileSync(openapiFiles[surface], 'utf8')) as Document;
      documents.set(surface, document);
    }
    for (const [path, item] of Object.entries(document.paths)) {
      for (const [method, operation] of Object.entries(item)) {
        if (operation.operationId === operationId) return buildShape(document, path, method, operation, item);
      }
    }
    throw new Error(`${surface}: no operation ${operationId}`);
  };
}

function buildShape(document: Document, path: string, method: string, operation: Json, item: Json): OperationShape {
  const resolveReference = (node: Json): Json =>
    typeof node.$ref === 'string' ? resolveReference(findByPointer(document, node.$ref)) : node;
  const declared = [
    ...((item.parameters as Json[] | undefined) ?? []),
    ...((operation.parameters as Json[] | undefined) ?? []),
  ];
  const parameters = declared
    .map((one) => resolveReference(one) as Parameter)
    .filter(({ in: place }) => place !== 'header');
  const body = findBodySchema(resolveReference, operation);
  const places = new Map<string, 'path' | 'query' | 'body'>();
  const properties: Json = {};
  const required: string[] = [];
  for (const { name, in: place, schema, description, required: isRequired } of parameters) {
    places.set(name, place as 'path' | 'query');
    properties[name] = description ? { ...schema, description } : schema;
    if (isRequired) required.push(name);
  }
  const whole = body && flattenSchema(resolveReference, body);
  for (const [name, schema] of Object.entries(whole?.properties ?? {})) {
    places.set(name, 'body');
    properties[name] = schema;
  }
  required.push(...(whole?.required ?? []));
  const answer = findResponseSchema(resolveReference, operation);
  const isList = answer !== undefined && resolveReference(answer).type === 'array';
  const output = isList
    ? { type: 'object', properties: { items: answer, total: { type: 'integer' } }, required: ['items'] }
    : answer;
  return {
    method: method.toUpperCase(),
    path,
    arguments: places,
    input: addDefinitions(document, { type: 'object', properties, required, additionalProperties: false }),
    output: output && addDefinitions(document, toObjectSchema(resolveReference, output)),
    isList,
  };
}

/** A tool's output schema is an object at its root, not a reference to one. */
const toObjectSchema = (follow: (node: Json) => Json, schema: Json): Json => ({ type: 'object', ...follow(schema) });

function findByPointer(document: Document, pointer: string): Json {
  const parts = pointer.slice(2).split('/');
  return parts.reduce<unknown>(
    (at, node) => (at as Json)[node.replaceAll('~1', '/').replaceAll('~0', '~')],
    document,
  ) as Json;
}

function findJsonSchema(node: Json | undefined): Json | undefined {
  const content = node?.content as Record<string, { schema?: Json }> | undefined;
  return content?.['application/json']?.schema;
}

function findBodySchema(follow: (node: Json) => Json, operation: Json): Json | undefined {
  return operation.requestBody === undefined ? undefined : findJsonSchema(follow(operation.requestBody as Json));
}

function findResponseSchema(follow: (node: Json) => Json, operation: Json): Json | undefined {
  const answers = operation.responses as Record<string, Json>;
  const [, good] = Object.entries(answers).find(([status]) => status.startsWith('2')) ?? [];
  return good && findJsonSchema(follow(good));
}

/** Properties of an object that is put together of several. */
function flattenSchema(follow: (node: Json) => Json, schema: Json): { properties: Json; required: string[] } {
  const { allOf, properties, required } = follow(schema) as { allOf?: Json[]; properties?: Json; required?: string[] };
  const parts = (allOf ?? []).map((node) => flattenSchema(follow, node));
  return {
    properties: Object.assign({}, ...parts.map((node) => node.properties), properties),
    required: [...parts.flatMap((node) => node.required), ...(required ?? [])],
  };
}

/** The schema with every one that it refers to, so that it stands alone. */
function addDefinitions(document: Document, schema: Json): Json {
  const definitions: Json = {};
  const rewrite = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(rewrite);
    if (node === null || typeof node !== 'object') return node;
    const { $ref } = node as { $ref?: unknown };
    if (typeof $ref === 'string' && $ref.startsWith(POINTER)) {
      const name = $ref.slice(POINTER.length);
      if (!(name in definitions)) {
        definitions[name] = true;
        definitions[name] = rewrite(document.components.schemas?.[name]);
      }
      return { ...node, $ref: `#/$defs/${name}` };
    }
    return Object.fromEntries(
      Object.entries(node)
        .filter(([key]) => !key.startsWith('x-') && key !== 'discriminator')
        .map(([key, value]) => [key, key === 'properties' ? omitShownOnce(value as Json, rewrite) : rewrite(value)]),
    );
  };
  const rewritten = rewrite(schema) as Json;
  return Object.keys(definitions).length > 0 ? { ...rewritten, $defs: definitions } : rewritten;
}

const omitShownOnce = (properties: Json, rewrite: (node: unknown) => unknown): Json =>
  Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => !SHOWN_ONCE.includes(name))
      .map(([name, value]) => [name, rewrite(value)]),
  );
