/**
 * Runs express-openapi-validator for a request whose operation is already known. It gets copies of its inputs: the
 * media type as in the document, so that a caller's headers cannot grow its caches, and the operation in place of a
 * method.
 */
import type { Spec } from 'express-openapi-validator/dist/framework/openapi.spec.loader';
import type { OpenApiRequestHandler, OpenApiValidatorOpts } from 'express-openapi-validator/dist/framework/types';
import type { OpenApiDocument, Operation } from './openapi-document';
import { isTimestamp } from './timestamp';
import { PATH, toMethod, type ValidatorDocument } from './validator-document';

/** The validator's view of a request. Validation adds defaults, and parses path and query parameters. */
export interface ValidatorRequest {
  app: { enabled: () => false; param: () => void };
  method: string;
  path: string;
  baseUrl: '';
  originalUrl: string;
  headers: Record<string, unknown>;
  /** Already decoded. Those that the validator parses from its one path are ignored. */
  params: object;
  query: Record<string, unknown>;
  body: unknown;
}

export interface RequestParts {
  params?: object;
  query?: Record<string, unknown>;
  headers?: Record<string, unknown>;
  body?: unknown;
}

const APP: ValidatorRequest['app'] = { enabled: () => false, param: () => {} };

export function buildValidatorRequest(operation: Operation, parts: RequestParts): ValidatorRequest {
  const { params = {}, query = {}, headers = {}, body } = parts;
  return {
    app: APP,
    method: toMethod(operation),
    path: PATH,
    baseUrl: '',
    originalUrl: PATH,
    headers,
    query,
    body,
    get params() {
      return params;
    },
    set params(_parsed) {},
  };
}

export type OpenApiValidator = (req: ValidatorRequest, res: object) => Promise<void>;

type Checks = Pick<OpenApiValidatorOpts, 'validateRequests' | 'validateResponses'>;

/** Loads and prepares the validator with the first request. */
export function createOpenApiValidator(buildDocument: () => ValidatorDocument, checks: Checks): OpenApiValidator {
  let steps: Promise<OpenApiRequestHandler[]> | undefined;
  return async (req, res) => {
    steps ??= loadSteps(buildDocument(), checks);
    for (const step of await steps) await runStep(step, req, res);
  };
}

async function loadSteps(document: ValidatorDocument, checks: Checks): Promise<OpenApiRequestHandler[]> {
  const { OpenApiValidator } = await import('express-openapi-validator/dist/openapi.validator.js');
  const validator = new OpenApiValidator({
    ...checks,
    apiSpec: document as never,
    validateApiSpec: false,
    validateSecurity: false,
    fileUploader: false,
    formats: {
      'date-time': { type: 'string', validate: isTimestamp },
      uri: { type: 'string', validate: (text: string) => URL.canParse(text) },
    },
  });
  return validator.installMiddleware(Promise.resolve(createSpec(document)));
}

let specs = 0;

/**
 * Creates the result of the validator's own loader, which compiles the schema of OpenAPI documents each time, even
 * without validating any (5.6.2, framework/index.js): half of an instance's cost.
 */
function createSpec(document: ValidatorDocument): Spec {
  const route = { basePath: '', expressRoute: PATH, openApiRoute: PATH, pathParams: [] };
  return {
    // Validation prepares the schemas in place, which other instances share.
    apiDoc: structuredClone(document) as never,
    basePaths: [''],
    routes: Object.keys(document.paths[PATH] ?? {}).map((method) => ({ ...route, method: method.toUpperCase() })),
    serial: ++specs,
  };
}

/**
 * The validator tries the paths of its document one after the other: a larger surface has an instance for each
 * resource.
 */
const INSTANCE_OPERATIONS_MAX = 50;

/**
 * Calls `create` for each group of operations that share an instance, once per document and process: schemas are compiled
 * with the first request of an operation.
 */
export function createOncePerDocument<T>(create: (group: Operation[], document: OpenApiDocument) => T) {
  const created = new WeakMap<OpenApiDocument, Map<Operation, T>>();
  return (document: OpenApiDocument): Map<Operation, T> => {
    const instances = created.get(document) ?? createPerGroup(document.operations, (group) => create(group, document));
    created.set(document, instances);
    return instances;
  };
}

function createPerGroup<T>(operations: Operation[], create: (group: Operation[]) => T): Map<Operation, T> {
  const isSmall = operations.length <= INSTANCE_OPERATIONS_MAX;
  const groups = new Map<string, Operation[]>();
  for (const operation of operations) {
    const name = isSmall ? '' : operation.resource;
    groups.set(name, [...(groups.get(name) ?? []), operation]);
  }
  return new Map(
    [...groups.values()].flatMap((group) => {
      const created = create(group);
      return group.map((operation): [Operation, T] => [operation, created]);
    }),
  );
}

function runStep(step: OpenApiRequestHandler, req: ValidatorRequest, res: object): Promise<void> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    step(req as never, res as never, (err?: unknown) => {
      // A refused response is reported to the step that prepared its check: the sender of the response catches it.
      if (isOver && err) throw err;
      isOver = true;
      if (err) reject(err);
      else resolve();
    });
  });
}
