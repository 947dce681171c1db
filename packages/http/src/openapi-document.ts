/** Parses the OpenAPI file into routes, their access rules, and their request and response schemas. */
import { readFileSync } from 'node:fs';
import { accessRules, rateLimitKinds, restrictDeclaration } from '@gantry/limits';
import { parse } from 'yaml';
import { z } from 'zod';
import { findNulPaths } from './request-text';

const methods = ['get', 'put', 'post', 'delete', 'patch', 'head'] as const;

/** JSON Schema. References lead to `OpenApiDocument.schemas`. */
export type Schema = Record<string, unknown>;

export const SCHEMA_REFERENCE = '#/components/schemas/';

const media = z.record(z.string(), z.object({ schema: z.custom<Schema>().default({}) }));

const parameter = z.object({
  name: z.string(),
  in: z.enum(['path', 'query', 'header']),
  required: z.boolean().default(false),
  allowEmptyValue: z.boolean().default(false),
  /** A path parameter that is a credential: never logged. */
  'x-secret': z.boolean().default(false),
  schema: z.custom<Schema>(),
});

const operation = z.object({
  operationId: z.string(),
  /** The first tag is the operation's resource. */
  tags: z.array(z.string()).default([]),
  /** Permitted callers. */
  'x-access': z.enum(accessRules),
  /** `rest`: the last path parameter takes the rest of the path, including slashes. */
  'x-path': z.enum(['rest']).optional(),
  /** `path`: the request acts in the workspace that `{workspace_id}` names; 404 for a caller who is no member there. */
  'x-workspace': z.enum(['path']).optional(),
  /** Opens the operation to restricted tokens; without it they are refused. */
  'x-restrict': restrictDeclaration.default({}),
  /** The rate limit that applies. */
  'x-limit': z.enum(rateLimitKinds).default('requests'),
  /** Honours Idempotency-Key (see packages/limits); `once`: its response contains a secret and is not stored. */
  'x-idempotent': z.union([z.boolean(), z.literal('once')]).default(false),
  /** `live`: the response streams until its subject ends, or the caller may no longer see it. */
  'x-stream': z.enum(['live']).optional(),
  /**
   * `any-json`: JSON with arbitrary keys. `as-sent`: its handler reads the bytes of any type; only a form is read
   * before.
   */
  'x-body': z.enum(['any-json', 'as-sent']).optional(),
  /** `ignored`: third parties call it, and may add query parameters. */
  'x-unknown-query': z.enum(['ignored']).optional(),
  /** `oauth`: errors also have the members of RFC 6749. */
  'x-errors': z.enum(['oauth']).optional(),
  /** `any`: every origin may call it; it is `public` and accepts no cookie. */
  'x-origins': z.enum(['any']).optional(),
  parameters: z.array(parameter).default([]),
  requestBody: z.object({ required: z.boolean().default(false), content: media }).optional(),
  responses: z.record(z.string(), z.object({ content: media.optional() })),
});

export type Parameter = z.infer<typeof parameter>;

export type Operation = ReturnType<typeof toOperation>;

export type OperationBody = ReturnType<typeof toBody>;

export interface OpenApiDocument {
  operations: Operation[];
  /** Schemas that operations refer to, by reference: `#/components/schemas/Run`. */
  schemas: Record<string, Schema>;
}

/** Bundled files are JSON, which is read ten times faster than YAML. */
export function readDocument(openapiFile: string): Document {
  const text = readFileSync(openapiFile, 'utf8');
  return (openapiFile.endsWith('.json') ? JSON.parse(text) : parse(text)) as Document;
}

const documents = new Map<string, OpenApiDocument>();

/**
 * Reads each file once per process: a surface, its permission tables and its tools share the document, which is not to
 * be changed. @throws Error naming every operation that lacks an operationId or x-access: nothing is open by default.
 */
export function readOpenApiDocument(openapiFile: string): OpenApiDocument {
  const document = documents.get(openapiFile) ?? parseOpenApiDocument(openapiFile);
  documents.set(openapiFile, document);
  return document;
}

function parseOpenApiDocument(openapiFile: string): OpenApiDocument {
  const { paths, components = {} } = readDocument(openapiFile);
  const resolve = createResolver(components);
  const schemas = Object.fromEntries(
    Object.entries(components.schemas ?? {}).map(([name, schema]) => [
      `${SCHEMA_REFERENCE}${name}`,
      resolve(schema) as Schema,
    ]),
  );
  const problems: string[] = [];
  const operations: Operation[] = [];
  for (const [route, item] of Object.entries(resolve(paths) as Document['paths'])) {
    for (const method of methods) {
      if (!(method in item)) continue;
      const parsed = operation.safeParse(withPathParameters(item, method));
      if (parsed.success) operations.push(toOperation(route, method, parsed.data, schemas));
      else problems.push(`${method.toUpperCase()} ${route}: ${z.prettifyError(parsed.error)}`);
    }
  }
  if (problems.length) throw new Error(`${openapiFile}:\n${problems.join('\n')}`);
  return { operations, schemas };
}

export const readOperations = (openapiFile: string): Operation[] => readOpenApiDocument(openapiFile).operations;

type PathItem = Record<string, Record<string, unknown>>;

/** A file with internal references only: packages/openapi bundles several files into one. */
interface Document {
  paths: Record<string, PathItem>;
  components?: Record<string, Record<string, unknown>>;
}

/** Adds the parameters that all methods of a path share. */
function withPathParameters(item: PathItem, method: string): Record<string, unknown> {
  const ownOperation = item[method] as { parameters?: unknown[] };
  const shared = (item as { parameters?: unknown[] }).parameters ?? [];
  return { ...ownOperation, parameters: [...shared, ...(ownOperation.parameters ?? [])] };
}

function toOperation(
  route: string,
  method: (typeof methods)[number],
  read: z.infer<typeof operation>,
  schemas: Record<string, Schema>,
) {
  const { requestBody, responses } = read;
  return {
    id: read.operationId,
    resource: read.tags[0] ?? '',
    method,
    /** In Express' syntax: `/api/runs/:runId`. */
    path: route.replace(/\{(\w+)\}/g, ':$1'),
    access: read['x-access'],
    restrict: read['x-restrict'],
    hasRestParameter: read['x-path'] === 'rest',
    workspaceFromPath: read['x-workspace'] === 'path',
    limit: read['x-limit'],
    idempotent: read['x-idempotent'],
    isStream: read['x-stream'] === 'live',
    ignoresUnknownQuery: read['x-unknown-query'] === 'ignored',
    hasOauthErrors: read['x-errors'] === 'oauth',
    isForAllOrigins: read['x-origins'] === 'any',
    parameters: read.parameters,
    /** Null if it accepts none. */
    body: requestBody ? toBody(requestBody, read['x-body'], schemas) : null,
    /** By status, `default` for all others. Schemas by media type. */
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, { content }]) => [status, toSchemas(content)]),
    ),
  };
}

function toBody(
  { required, content }: NonNullable<z.infer<typeof operation>['requestBody']>,
  reading: z.infer<typeof operation>['x-body'],
  schemas: Record<string, Schema>,
) {
  const bodySchemas = toSchemas(content);
  return {
    required,
    content: bodySchemas,
    /** Paths at which a JSON body may contain U+0000. */
    nulPlaces: Object.values(bodySchemas).flatMap((schema) => findNulPaths(schema, schemas)),
    reading,
  };
}

/** Schemas by media type, which is in lower case. */
const toSchemas = (content: z.infer<typeof media> = {}): Record<string, Schema> =>
  Object.fromEntries(Object.entries(content).map(([type, { schema }]) => [type.toLowerCase(), schema]));

/** Resolves every reference in a part of a document, except those to schemas. */
function createResolver(components: Record<string, Record<string, unknown>>): (part: unknown) => unknown {
  function resolve(part: unknown): unknown {
    if (Array.isArray(part)) return part.map(resolve);
    if (part === null || typeof part !== 'object') return part;
    const { $ref, ...rest } = part as { $ref?: unknown };
    if (typeof $ref === 'string') return resolveReference($ref, rest);
    return Object.fromEntries(Object.entries(part).map(([key, one]) => [key, resolve(one)]));
  }

  function resolveReference(ref: string, siblings: object): unknown {
    const [, kind = '', name = ''] = /^#\/components\/(\w+)\/(\w+)$/.exec(ref) ?? [];
    const component = components[kind]?.[name];
    if (component === undefined) throw new Error(`there is no component at ${ref}`);
    return kind === 'schemas' ? { ...(resolve(siblings) as object), $ref: ref } : resolve(component);
  }

  return resolve;
}
