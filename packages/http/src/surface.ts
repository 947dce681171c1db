/**
 * Creates the Express app of an HTTP surface. The path of a request: log -> alias prefix -> operation -> budget of the
 * address -> authentication -> budget of the credential -> role -> size -> body -> OpenAPI validation -> idempotency ->
 * handler -> error mapping. No body is read before the caller is authenticated. The OpenAPI file is the routing table:
 * an operation without a handler, a handler without an operation, or an operation without x-access prevents the start.
 */

import { AppError } from '@gantry/errors';
import { newId } from '@gantry/events';
import {
  createAdmission,
  createIdempotency,
  createRateCounter,
  createRateLimiter,
  DEFAULT_RATE_LIMITS,
  type KeyedHasher,
  type Principal,
  type RateLimiter,
  type RateLimits,
  type SlotLimits,
} from '@gantry/limits';
import { toTraceFields } from '@gantry/tracing';
import express, { type Express, type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import helmet from 'helmet';
import type multer from 'multer';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { pinoHttp } from 'pino-http';
import { methodNotAllowed } from './allowed-methods';
import { addSemanticProblems, type CheckBody } from './body-problems';
import { createCors } from './cross-origin';
import { createErrorHandler, createFallbackErrorHandler, type ErrorShape } from './error-handler';
import { type AnyOperations, toExpressHandler } from './handler';
import { serializeError } from './log';
import { createRequestMetrics } from './metrics';
import { createStreamRegistry } from './open-streams';
import { type OpenApiDocument, type Operation, readOpenApiDocument } from './openapi-document';
import { createOperationTable } from './operation-table';
import { createSurfaceLocator, type OtherSurface } from './other-surfaces';
import './request';
import { toLogPath } from './log-path';
import { createBodyReader } from './request-body';
import { assertStorableParameters } from './request-text';
import { createOpenapiRouter } from './serve-openapi';
import { sendStoredJson } from './stored-json';
import { traceRequest } from './trace-request';
import { createRequestValidator } from './validate-request';
import { createResponseValidator } from './validate-response';

/** Settings of a surface that come from the environment; tests set their own. */
export interface SurfaceLimits {
  rateLimits?: RateLimits;
  /** Limits of streaming responses, such as live events. */
  streamLimits?: SlotLimits;
  /** For tests: a response that the OpenAPI file does not allow becomes a 500. */
  validateResponses?: boolean;
}

export interface SurfaceOptions extends SurfaceLimits {
  openapiFile: string;
  /** The document that /openapi.json serves; `openapiFile` when absent. */
  publishedFile?: string;
  operations: AnyOperations;
  /** By operation: checks of its body beyond the schema, so that one response names all problems. */
  bodyChecks?: Record<string, CheckBody>;
  /** Null without a credential; throws a 401 AppError for a bad one. */
  authenticate: (req: Request) => Promise<Principal | null>;
  errorShape: ErrorShape;
  /** The value of `WWW-Authenticate` in a 401. */
  challenge?: (req: Request, code: string) => string;
  pool: Pool;
  /** Hashes requests that have an Idempotency-Key. */
  hasher: KeyedHasher;
  log: Logger;
  /** A 404 names the address if one of these has the operation. */
  otherSurfaces?: OtherSurface[];
  /** Maps an alias of a path to the path that the OpenAPI file documents. */
  canonicalPath?: (path: string) => string;
  /** Exact origins that may call with a Bearer from a browser. */
  corsOrigins?: string[];
  uploads?: multer.Options;
  /** Address of this surface, as its OpenAPI document names it. */
  publicUrl?: string;
  /** Mounts routes outside of the HTTP API first: the dashboard's files, presigned storage URLs. */
  beside?: (app: Express) => void;
}

const REQUEST_ID = /^[\w.:-]{8,128}$/;

export function createSurface(options: SurfaceOptions): Express {
  const { log } = options;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', 'loopback, linklocal, uniquelocal');
  const count = createRateCounter({ pool: options.pool, log });
  const budget = createRateLimiter(options.rateLimits ?? DEFAULT_RATE_LIMITS, count);
  app.use(raiseListenerLimit);
  app.use(
    createRequestLog(log),
    createRequestMetrics(),
    preventErrorCaching,
    addRateLimitHeaders(budget),
    sendStoredJson,
  );
  app.use(
    helmet({
      contentSecurityPolicy: {
        useDefaults: false,
        directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
      },
    }),
  );
  const document = readOpenApiDocument(options.openapiFile);
  const corsHandler = createCors(options.corsOrigins ?? [], document.operations);
  if (corsHandler) app.use(corsHandler);
  app.use(createOpenapiRouter(options.publishedFile ?? options.openapiFile, options.publicUrl ?? null));
  options.beside?.(app);
  app.use(setNoStore, createRouteHandler(document, options, budget));
  app.use(createErrorHandler(options.errorShape, log, options.challenge), createFallbackErrorHandler(log));
  return app;
}

function createRouteHandler(document: OpenApiDocument, options: SurfaceOptions, budget: RateLimiter): RequestHandler {
  const { canonicalPath = (path) => path } = options;
  const table = createOperationTable(document.operations);
  const operationHandlers = createOperationHandlers(document, options, budget);
  const findElsewhere = createSurfaceLocator(options.otherSurfaces ?? []);
  return (req, res) => {
    // A query may contain question marks.
    const [requestedPath = '/'] = req.url.split('?', 1);
    const path = canonicalPath(requestedPath);
    req.askedPath = requestedPath;
    req.url = path + req.url.slice(requestedPath.length);
    req.originalUrl = req.url;
    const match = table.find(req.method, path);
    if (!match || 'allowed' in match) {
      budget.spendOnAddress(req, res);
      throw match
        ? methodNotAllowed(req, res, requestedPath, match.allowed)
        : pathNotFoundError(requestedPath, findElsewhere(req.method, requestedPath));
    }
    req.operation = match.operation;
    traceRequest(match.operation, req, res);
    const handleOperation = operationHandlers.get(match.operation) as HandleOperation;
    return handleOperation(match.params, req, res);
  };
}

type HandleOperation = (params: Record<string, string> | null, req: Request, res: Response) => Promise<void>;

/** Creates the request handling of each operation. */
function createOperationHandlers(
  document: OpenApiDocument,
  options: SurfaceOptions,
  budget: RateLimiter,
): Map<Operation, HandleOperation> {
  const { authenticate, pool, hasher, log } = options;
  const idempotency = createIdempotency({ pool, hasher, log, strict: options.validateResponses ?? false });
  const handlers = new Map(Object.entries(options.operations));
  const admit = createAdmission(authenticate, budget);
  const readBody = createBodyReader(options.uploads);
  const streams = createStreamRegistry(authenticate, options.streamLimits);
  const createValidation = createRequestValidator(document);
  const checkResponse = options.validateResponses ? createResponseValidator(document) : undefined;
  const operationHandlers = new Map<Operation, HandleOperation>();
  const missing: string[] = [];
  for (const operation of document.operations) {
    const handler = handlers.get(operation.id);
    handlers.delete(operation.id);
    if (!handler) {
      missing.push(`no handler for operation ${operation.id}`);
      continue;
    }
    const validate = createValidation(operation);
    const { revisit, ...adapted } = toExpressHandler(handler);
    const work = idempotency.wrapHandler(operation, adapted.work, revisit);
    operationHandlers.set(operation, async (params, req, res) => {
      await checkResponse?.(operation, res);
      await admit(operation, params, req, res);
      if (!params) throw new AppError('invalid', 'invalid', `${req.askedPath}: the path has invalid URL encoding`);
      req.params = params;
      assertStorableParameters(req);
      const mediaType = await readBody(operation, req, res);
      try {
        await validate(req, mediaType);
      } catch (err) {
        throw addSemanticProblems(err, options.bodyChecks?.[operation.id], req.body);
      }
      // Counted before the handler looks up what it streams.
      if (operation.isStream) streams.open(req, res, operation);
      await work(req, res);
    });
  }
  missing.push(...[...handlers.keys()].map((id) => `no operation for handler ${id}`));
  if (missing.length) throw new Error(`${options.openapiFile}: ${missing.join('; ')}`);
  return operationHandlers;
}

const pathNotFoundError = (path: string, hint?: string) =>
  new AppError('not_found', 'not_found', `${path}: not found${hint ? `; ${hint}` : ''}`);

const setNoStore: RequestHandler = (_req, res, next) => {
  res.set('Cache-Control', 'no-store');
  next();
};

const FIRST_ERROR = 400;

/** Overrides headers that were set for a successful response: errors are not cached and have no version. */
const preventErrorCaching: RequestHandler = (_req, res, next) => {
  const writeHead = res.writeHead.bind(res) as (...args: unknown[]) => Response;
  res.writeHead = (status: number, ...rest: unknown[]) => {
    if (status >= FIRST_ERROR && !res.headersSent) {
      res.setHeader('Cache-Control', 'no-store');
      for (const name of ['ETag', 'Last-Modified', 'Expires']) res.removeHeader(name);
    }
    return writeHead(status, ...rest);
  };
  next();
};

/** Adds the address' budget to responses that are not charged, such as files of the dashboard. */
const addRateLimitHeaders =
  (budget: RateLimiter): RequestHandler =>
  (req, res, next) => {
    const writeHead = res.writeHead.bind(res) as (...args: unknown[]) => Response;
    res.writeHead = (...args: unknown[]) => {
      if (!res.headersSent && !res.hasHeader('RateLimit-Limit')) budget.show(req, res);
      return writeHead(...args);
    };
    next();
  };

function createRequestLog(log: Logger): RequestHandler {
  return pinoHttp({
    logger: log,
    genReqId: (req, res) => {
      const requestId = req.headers['x-request-id'];
      const id = typeof requestId === 'string' && REQUEST_ID.test(requestId) ? requestId : newId('req_');
      res.setHeader('X-Request-Id', id);
      return id;
    },
    serializers: {
      req: (req) => ({
        id: req.id,
        method: req.method,
        path: toLogPath(String(req.url), req.raw?.operation),
        address: req.remoteAddress,
      }),
      res: (res) => ({ status: res.statusCode }),
      err: serializeError,
    },
    customLogLevel: (req, res, err) => {
      // Readiness probes repeat; a dependency that is down is logged separately.
      if ((req as Request).operation?.id === 'ready') return 'debug';
      return err || res.statusCode >= 500 ? 'error' : res.statusCode >= 400 ? 'info' : 'debug';
    },
    quietReqLogger: true,
    quietResLogger: true,
    // Logged once the operation is known.
    customSuccessObject: (req, _res, line) => ({ req, ...toTraceFields(req.headers.traceparent as string), ...line }),
    customErrorObject: (req, _res, _err, line) => ({
      req,
      ...toTraceFields(req.headers.traceparent as string),
      ...line,
    }),
  });
}

/** Resources of a response are released when it closes: a stream has about twelve listeners, and none leaks. */
const LISTENERS_MAX = 20;

function raiseListenerLimit(_req: Request, res: Response, next: NextFunction): void {
  res.setMaxListeners(LISTENERS_MAX);
  next();
}
