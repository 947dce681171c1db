/** Whether a request is as its operation's entry in the OpenAPI file says, at a cost that a sender can't choose. */
import type { Request } from 'express';
import { type FieldProblem, invalid, PROBLEMS_MAX } from './errors';
import type { OpenApiDocument, Operation, Parameter, Schema } from './openapi-document';
import { sayProblem } from './say-problem';
import { type ErrorObject, type SchemaCompiler, schemaCompiler } from './schema-compiler';

/** Up to this size of a body everything that is wrong is said; of a larger one what is found first. */
const EXPLAINED_BYTES_MAX = 16 * 1024;

/** Fills in defaults, and makes numbers and booleans of the texts of path and query. @throws AppError 400 */
export type ValidateRequest = (req: Request, mediaType: string | undefined) => void;

export function requestValidators({ schemas }: OpenApiDocument): (operation: Operation) => ValidateRequest {
  const compilers = { parameters: schemaCompiler(schemas, { coerce: true }), body: schemaCompiler(schemas) };
  return (operation) => {
    const parameters = checkOf(compilers.parameters, parametersSchema(operation.parameters));
    const bodies = new Map(
      Object.entries(operation.body?.content ?? {}).map(([type, schema]) => [
        type,
        checkOf(compilers.body, bodySchema(schema, operation.body?.required ?? false)),
      ]),
    );
    const headers = namesIn(operation, 'header');
    const query = operation.parameters.filter((one) => one.in === 'query');
    return (req, mediaType) => {
      const given: Given = { query: { ...req.query }, params: req.params, headers: pick(req, headers) };
      const problems = operation.ignoresUnknownQuery ? [] : unknownQuery(given.query, query);
      problems.push(...parameters(given, true));
      const body = mediaType === undefined ? undefined : bodies.get(mediaType);
      if (body) problems.push(...body({ body: req.body }, (req.rawBody?.length ?? 0) <= EXPLAINED_BYTES_MAX));
      if (problems.length) throw invalid(problems);
      refuseUnusable(given.query);
      // Express parses the query again at each access.
      Object.defineProperty(req, 'query', { value: given.query, writable: true, configurable: true, enumerable: true });
    };
  };
}

interface Given {
  query: Record<string, unknown>;
  params: unknown;
  headers: unknown;
}

/** @param explained everything that is wrong, and not only what was found first */
type Check = (data: unknown, explained: boolean) => FieldProblem[];

function checkOf(compiler: SchemaCompiler, schema: Schema): Check {
  let fails: ReturnType<SchemaCompiler['compile']> | undefined;
  let explains: ReturnType<SchemaCompiler['compile']> | undefined;
  return (data, explained) => {
    fails ??= compiler.compile(schema, false);
    if (fails(data)) return [];
    if (!explained) return toProblems(fails.errors);
    explains ??= compiler.compile(schema, true);
    return explains(data) ? toProblems(fails.errors) : toProblems(explains.errors);
  };
}

function parametersSchema(parameters: Parameter[]): Schema {
  const of = (where: Parameter['in']): Schema => {
    const some = parameters.filter((one) => one.in === where);
    const nameOf = ({ name }: Parameter) => (where === 'header' ? name.toLowerCase() : name);
    return {
      type: 'object',
      properties: Object.fromEntries(some.map((one) => [nameOf(one), one.schema])),
      required: some.filter(({ required }) => required).map(nameOf),
    };
  };
  return { type: 'object', properties: { query: of('query'), params: of('path'), headers: of('header') } };
}

const bodySchema = (schema: Schema, required: boolean): Schema => ({
  type: 'object',
  properties: { body: schema },
  ...(required && schema.format !== 'binary' && Object.keys(schema).length && { required: ['body'] }),
});

const namesIn = ({ parameters }: Operation, where: Parameter['in']): string[] =>
  parameters.filter((one) => one.in === where).map(({ name }) => name.toLowerCase());

const pick = (req: Request, names: string[]): Record<string, unknown> =>
  Object.fromEntries(names.flatMap((name) => (req.headers[name] === undefined ? [] : [[name, req.headers[name]]])));

/** Reports parameters that must not be sent, and removes them so that no other check looks at them. */
function unknownQuery(query: Record<string, unknown>, known: Parameter[]): FieldProblem[] {
  return Object.entries(query).flatMap(([path, value]) => {
    const parameter = known.find((one) => one.name === path);
    if (parameter && (value !== '' || parameter.allowEmptyValue)) return [];
    delete query[path];
    return [{ path, message: parameter ? 'must not be empty' : `unknown query parameter "${path}"` }];
  });
}

/** "Infinity" passes as an integer, above any maximum; and no column holds NUL. */
function refuseUnusable(query: Record<string, unknown>): void {
  for (const [path, given] of Object.entries<unknown>(query)) {
    for (const value of [given].flat()) {
      if (typeof value === 'number' && !Number.isFinite(value)) {
        throw invalid([{ path, message: 'must be a finite number' }]);
      }
      if (typeof value === 'string' && value.includes('\0')) {
        throw invalid([{ path, message: 'must not contain NUL' }]);
      }
    }
  }
}

const PART_OF_REQUEST = /^\/(body|query|params|headers)(?=\/|$)\/?/;

const toProblems = (errors: ErrorObject[] | null | undefined): FieldProblem[] =>
  (errors ?? []).slice(0, PROBLEMS_MAX).map(toProblem);

/** `/body/inputs/a` is for programs; people read `inputs.a`. */
function toProblem(error: ErrorObject): FieldProblem {
  const { instancePath, params } = error;
  const { missingProperty, additionalProperty, unevaluatedProperty } = params;
  const named = missingProperty ?? additionalProperty ?? unevaluatedProperty;
  const pointer = named === undefined ? instancePath : `${instancePath}/${named}`;
  const part = PART_OF_REQUEST.exec(pointer);
  const path = (part && (pointer.slice(part[0].length).replaceAll('/', '.') || part[1])) || 'request';
  return { path, message: sayProblem(error) };
}
