/**
 * Creates the Express app of an HTTP surface. The path of a request:
 * log -> alias prefix -> operation -> budget of the address -> authentication -> budget of the credential -> role -> size
 * -> body -> OpenAPI validation -> idempotency -> handler -> error mapping. No body is read before the caller is
 * authenticated. The OpenAPI file is the routing table: an operation without a handler, a handler without an operation,
 * or an operation without x-access prevents the start.
 */
import { newId } from '@gantry/events';
import { traceFields } from '@gantry/tracing';
import express, { type Express, type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import helmet from 'helmet';
import type multer from 'multer';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { pinoHttp } from 'pino-http';
import { admission } from './admission';
import { methodNotAllowed } from './allowed-methods';
import { type CheckBody, withMeaning } from './body-problems';
import { crossOrigin } from './cross-origin';
import { AppError } from './errors';
import { type ErrorShape, failedRequest, lastResort } from './failed-request';
import { type AnyOperations, expressForm } from './handler';
import { createIdempotency, type KeyedHasher } from './idempotency';
import { errorForLog } from './log';
import { observeRequests } from './metrics';
import { openStreams } from './open-streams';
import { type OpenApiDocument, type Operation, readOpenApiDocument } from './openapi-document';
import { operationTable } from './operation-table';
import { type OtherSurface, otherSurfaces } from './other-surfaces';
import type { PlaceLimits } from './places';
import type { Principal } from './principal';
import './request';
import { createRateCount } from './rate-count';
import { type Budgets, budgets, DEFAULT_RATE_LIMITS, type RateLimits } from './rate-limit';
import { bodyReader } from './request-body';
import { assertUsableParameters } from './request-text';
import { pathForLog } from './secret-paths';
import { serveOpenapi } from './serve-openapi';
import { sendStoredJson } from './stored-json';
import { traceRequest } from './trace-request';
import { type RequestValidators, requestValidators } from './validate-request';
import { responseCheck } from './validate-response';

/** Settings of a surface that come from the environment; tests set their own. */
export interface SurfaceLimits {
  rateLimits?: RateLimits;
  /** Limits of streaming responses, such as live events. */
  streamLimits?: PlaceLimits;
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

const compilers = new WeakMap<Express, RequestValidators['compileAll']>();

/** Compiles the request validators of a surface in the background. An earlier request compiles its own. */
export const compileValidators = async (surface: Express, signal: AbortSignal): Promise<void> =>
  compilers.get(surface)?.(signal);

const REQUEST_ID = /^[\w.:-]{8,128}$/;

export function createSurface(options: SurfaceOptions): Express {
  const { log } = options;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', 'loopback, linklocal, uniquelocal');
  const count = createRateCount({ pool: options.pool, log });
  const budget = budgets(options.rateLimits ?? DEFAULT_RATE_LIMITS, count);
  app.use(allowListeners);
  app.use(requestLog(log), observeRequests(), neverKeepErrors, tellStanding(budget), sendStoredJson);
  app.use(
    helmet({
      contentSecurityPolicy: {
        useDefaults: false,
        directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
      },
    }),
  );
  const document = readOpenApiDocument(options.openapiFile);
  compilers.set(app, requestValidators(document).compileAll);
  const pages = crossOrigin(options.corsOrigins ?? [], document.operations);
  if (pages) app.use(pages);
  app.use(serveOpenapi(options.publishedFile ?? options.openapiFile, options.publicUrl ?? null));
  options.beside?.(app);
  app.use(noStore, route(document, options, budget));
  app.use(failedRequest(options.errorShape, log, options.challenge), lastResort(log));
  return app;
}

function route(document: OpenApiDocument, options: SurfaceOptions, budget: Budgets): RequestHandler {
  const { canonicalPath = (path) => path } = options;
  const table = operationTable(document.operations);
  const answers = answersOf(document, options, budget);
  const elsewhere = otherSurfaces(options.otherSurfaces ?? []);
  return (req, res) => {
    // A query may contain question marks.
    const [asked = '/'] = req.url.split('?', 1);
    const path = canonicalPath(asked);
    req.askedPath = asked;
    req.url = path + req.url.slice(asked.length);
    req.originalUrl = req.url;
    const found = table.find(req.method, path);
    if (!found || 'allowed' in found) {
      budget.spendOnAddress(req, res);
      throw found
        ? methodNotAllowed(req, res, asked, found.allowed)
        : notFoundPath(asked, elsewhere(req.method, asked));
    }
    req.operation = found.operation;
    traceRequest(found.operation, req, res);
    const answer = answers.get(found.operation) as Answer;
    return answer(found.params, req, res);
  };
}

type Answer = (params: Record<string, string> | null, req: Request, res: Response) => Promise<void>;

/** Creates the request handling of each operation. */
function answersOf(document: OpenApiDocument, options: SurfaceOptions, budget: Budgets): Map<Operation, Answer> {
  const { authenticate, pool, hasher, log } = options;
  const idempotency = createIdempotency({ pool, hasher, log, strict: options.validateResponses ?? false });
  const handlers = new Map(Object.entries(options.operations));
  const admit = admission(authenticate, budget);
  const read = bodyReader(options.uploads);
  const streams = openStreams(authenticate, options.streamLimits);
  const validators = requestValidators(document);
  const checkResponse = options.validateResponses ? responseCheck(document) : undefined;
  const answers = new Map<Operation, Answer>();
  const missing: string[] = [];
  for (const operation of document.operations) {
    const handler = handlers.get(operation.id);
    handlers.delete(operation.id);
    if (!handler) {
      missing.push(`no handler for operation ${operation.id}`);
      continue;
    }
    const validate = validators.validate(operation);
    const { revisit, ...handled } = expressForm(handler);
    const work = idempotency.honour(operation, handled.work, revisit);
    answers.set(operation, async (params, req, res) => {
      await checkResponse?.(operation, res);
      await admit(operation, params, req, res);
      if (!params) throw new AppError('invalid', 'invalid', `${req.askedPath}: the path is not a valid URL encoding`);
      req.params = params;
      assertUsableParameters(req);
      const mediaType = await read(operation, req, res);
      try {
        await validate(req, mediaType);
      } catch (err) {
        throw withMeaning(err, options.bodyChecks?.[operation.id], req.body);
      }
      // Counted before the handler looks up what it streams.
      if (operation.isStream) streams.open(req, res, operation);
      await work(req, res);
    });
  }
  missing.push(...[...handlers.keys()].map((id) => `no operation for handler ${id}`));
  if (missing.length) throw new Error(`${options.openapiFile}: ${missing.join('; ')}`);
  return answers;
}

const notFoundPath = (path: string, elsewhere?: string) =>
  new AppError('not_found', 'not_found', `${path}: not found${elsewhere ? `; ${elsewhere}` : ''}`);

const noStore: RequestHandler = (_req, res, next) => {
  res.set('Cache-Control', 'no-store');
  next();
};

const FIRST_ERROR = 400;

/** Overrides headers that were set for a successful response: errors are not cached and have no version. */
const neverKeepErrors: RequestHandler = (_req, res, next) => {
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
const tellStanding =
  (budget: Budgets): RequestHandler =>
  (req, res, next) => {
    const writeHead = res.writeHead.bind(res) as (...args: unknown[]) => Response;
    res.writeHead = (...args: unknown[]) => {
      if (!res.headersSent && !res.hasHeader('RateLimit-Limit')) budget.show(req, res);
      return writeHead(...args);
    };
    next();
  };

function requestLog(log: Logger): RequestHandler {
  return pinoHttp({
    logger: log,
    genReqId: (req, res) => {
      const given = req.headers['x-request-id'];
      const id = typeof given === 'string' && REQUEST_ID.test(given) ? given : newId('req_');
      res.setHeader('X-Request-Id', id);
      return id;
    },
    serializers: {
      req: (req) => ({
        id: req.id,
        method: req.method,
        path: pathForLog(String(req.url), req.raw?.operation),
        address: req.remoteAddress,
      }),
      res: (res) => ({ status: res.statusCode }),
      err: errorForLog,
    },
    customLogLevel: (req, res, err) => {
      // Readiness probes repeat; a dependency that is down is logged separately.
      if ((req as Request).operation?.id === 'ready') return 'debug';
      return err || res.statusCode >= 500 ? 'error' : res.statusCode >= 400 ? 'info' : 'debug';
    },
    quietReqLogger: true,
    quietResLogger: true,
    // Logged once the operation is known.
    customSuccessObject: (req, _res, line) => ({ req, ...traceFields(req.headers.traceparent as string), ...line }),
    customErrorObject: (req, _res, _err, line) => ({ req, ...traceFields(req.headers.traceparent as string), ...line }),
  });
}

/** Resources of a response are released when it closes: a stream has about twelve listeners, and none leaks. */
const LISTENERS_MAX = 20;

function allowListeners(_req: Request, res: Response, next: NextFunction): void {
  res.setMaxListeners(LISTENERS_MAX);
  next();
}
