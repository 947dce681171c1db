/** Validates a request against its operation's entry in the OpenAPI file, at a bounded cost (ADR 58). */
import { type FieldProblem, invalid } from '@gantry/errors';
import type { Request } from 'express';
import type { OpenApiDocument, Operation, Parameter } from './openapi-document';
import {
  buildValidatorRequest,
  createOncePerDocument,
  createOpenApiValidator,
  type OpenApiValidator,
  type ValidatorRequest,
} from './openapi-validator';
import { type BodySchema, getValidatorErrors, toFieldProblems } from './validation-problem';
import { buildRequestDocument } from './validator-document';

/** Up to this size of a body every problem is reported; for a larger one only the first. */
const ALL_ERRORS_BYTES_MAX = 16 * 1024;

/** Adds defaults, and parses path and query parameters. @throws AppError 400 */
export type ValidateRequest = (req: Request, mediaType: string | undefined) => Promise<void>;

interface ValidatorPair {
  /** Reports every problem, at a cost that grows with their number. */
  allErrors: OpenApiValidator;
  /** Stops at the first problem. */
  firstError: OpenApiValidator;
}

const getValidatorPairs = createOncePerDocument(createValidatorPair);

export function createRequestValidator(document: OpenApiDocument): (operation: Operation) => ValidateRequest {
  const instances = getValidatorPairs(document);
  return (operation) => createRequestValidation(operation, instances.get(operation) as ValidatorPair, document.schemas);
}

function createValidatorPair(group: Operation[], { schemas }: OpenApiDocument): ValidatorPair {
  const create = (allErrors: boolean) =>
    createOpenApiValidator(() => buildRequestDocument(group, schemas), {
      validateRequests: { allErrors, allowUnknownQueryParameters: true },
      validateResponses: false,
    });
  return { allErrors: create(true), firstError: create(false) };
}

function createRequestValidation(
  operation: Operation,
  instance: ValidatorPair,
  schemas: OpenApiDocument['schemas'],
): ValidateRequest {
  const headers = listParameterNames(operation, 'header').map((name) => name.toLowerCase());
  const numbers = listNumericPathParameters(operation, schemas);
  return async (req, mediaType) => {
    const { query, problems } = selectQuery(req.query, operation);
    const validatorRequest = buildValidatorRequest(operation, {
      params: req.params,
      query,
      headers: { ...pickHeaders(req, headers), 'content-type': mediaType },
      body: req.body,
    });
    const isLarge = (req.rawBody?.length ?? 0) > ALL_ERRORS_BYTES_MAX;
    const schemaAt: BodySchema = { schemas, root: operation.body?.content[mediaType ?? ''] };
    const found = await findProblems(isLarge ? instance.firstError : instance.allErrors, validatorRequest, schemaAt);
    if (problems.length + found.length) throw invalid([...problems, ...found]);
    for (const name of numbers) assertFinite({ [name]: Number(req.params[name]) });
    assertFinite(query);
    req.body = validatorRequest.body;
    // Express parses the query again at each access.
    Object.defineProperty(req, 'query', { value: query, writable: true, configurable: true, enumerable: true });
  };
}

async function findProblems(
  validate: OpenApiValidator,
  req: ValidatorRequest,
  at: BodySchema,
): Promise<FieldProblem[]> {
  try {
    await validate(req, {});
    return [];
  } catch (err) {
    return toFieldProblems(getValidatorErrors(err), at);
  }
}

const listParameterNames = ({ parameters }: Operation, where: Parameter['in']): string[] =>
  parameters.filter((one) => one.in === where).map(({ name }) => name);

const pickHeaders = (req: Request, names: string[]): Record<string, unknown> =>
  Object.fromEntries(names.flatMap((name) => (req.headers[name] === undefined ? [] : [[name, req.headers[name]]])));

/** Selects the known parameters, and reports every unknown one: the validator would report only the first. */
function selectQuery(requestQuery: Request['query'], { parameters, ignoresUnknownQuery }: Operation) {
  const query: Record<string, unknown> = {};
  const problems: FieldProblem[] = [];
  for (const [path, value] of Object.entries(requestQuery)) {
    // Bounded: the parameters of an operation are the OpenAPI document's, and a query fits into HEADER_BYTES_MAX.
    const parameter = parameters.find((one) => one.in === 'query' && one.name === path);
    if (parameter && (value !== '' || parameter.allowEmptyValue || ignoresUnknownQuery)) query[path] = value;
    else if (parameter) problems.push({ path, message: 'must not be empty' });
    else if (!ignoresUnknownQuery) problems.push({ path, message: `unknown query parameter "${path}"` });
  }
  return { query, problems };
}

/** Lists the numeric path parameters, which the handler gets as texts. */
function listNumericPathParameters({ parameters }: Operation, schemas: OpenApiDocument['schemas']): string[] {
  const isNumber = ({ schema }: Parameter) =>
    ['integer', 'number'].includes(String((schemas[String(schema.$ref)] ?? schema).type));
  return parameters.filter((one) => one.in === 'path' && isNumber(one)).map(({ name }) => name);
}

/** "Infinity" passes as an integer, above any maximum. */
function assertFinite(values: Record<string, unknown>): void {
  for (const [path, given] of Object.entries<unknown>(values)) {
    for (const value of [given].flat()) {
      if (typeof value === 'number' && !Number.isFinite(value)) {
        throw invalid([{ path, message: 'must be a finite number' }]);
      }
    }
  }
}
