/**
 * One Express app for one HTTP surface. The path of a request:
 * log -> JSON (1 MB) -> alias prefix -> OpenAPI validation -> authentication -> rate limit -> idempotency -> handler
 * -> error mapping. The OpenAPI file is the routing table: an operation without a handler, a handler without an
 * operation, or an operation that does not say who may call it stops the start.
 */
import { newId } from '@gantry/events';
import cors from 'cors';
import express, { type Express, type Request, type RequestHandler, type Response } from 'express';
import * as OpenApiValidator from 'express-openapi-validator';
import helmet from 'helmet';
import type multer from 'multer';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { pinoHttp } from 'pino-http';
import { AppError, invalid, notFound } from './errors';
import { type ErrorShape, failedRequest, lastResort } from './failed-request';
import { idempotency } from './idempotency';
import { jsonBody } from './json-body';
import { observeRequests } from './metrics';
import { type Operation, readOperations, restOfPathAsOneSegment } from './openapi-document';
import { type Principal, roleAtLeast } from './principal';
import './request';
import { createRateCount } from './rate-count';
import { DEFAULT_RATE_LIMITS, type RateLimits, rateLimit, type SpendRequest } from './rate-limit';
import { boundUploads } from './upload';

export type Handler = (req: Request, res: Response) => void | Promise<void>;
/** By operationId. */
export type Operations = Record<string, Handler>;

export interface SurfaceOptions {
  openapiFile: string;
  operations: Operations;
  /** Null without a credential; throws a 401 AppError for a bad one. */
  authenticate: (req: Request) => Promise<Principal | null>;
  errorShape: ErrorShape;
  pool: Pool;
  log: Logger;
  /** Maps an alias of a path to the path that the OpenAPI file documents. */
  canonicalPath?: (path: string) => string;
  rateLimits?: RateLimits;
  /** Exact origins that may call with a Bearer from a browser. */
  corsOrigins?: string[];
  uploads?: multer.Options;
  /** Tests switch this on: an answer that the OpenAPI file does not allow is then a 500. */
  validateResponses?: boolean;
  /** What is not part of the HTTP API: the dashboard's files, presigned storage URLs. Mounted before everything else. */
  beside?: (app: Express) => void;
}

/** Far longer than ids are. */
const TOKEN_IN_PATH = /\b([a-z]{3}_)[\w.-]{40,}/g;
const REQUEST_ID = /^[\w.:-]{8,128}$/;

export function createSurface(options: SurfaceOptions): Express {
  const { log } = options;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', 'loopback, linklocal, uniquelocal');
  app.use(requestLog(log), observeRequests());
  app.use(
    helmet({
      contentSecurityPolicy: {
        useDefaults: false,
        directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
      },
    }),
  );
  if (options.corsOrigins?.length)
    app.use(cors({ origin: options.corsOrigins, maxAge: 600, exposedHeaders: EXPOSED_HEADERS }));
  options.beside?.(app);
  app.use(noStore, ...jsonBody());
  const operations = readOperations(options.openapiFile);
  const { canonicalPath = (path) => path } = options;
  const asOneSegment = restOfPathAsOneSegment(operations);
  app.use((req, _res, next) => {
    // The validator reads originalUrl and Express routes by url: both must say the same.
    const [path = '/', query] = req.url.split('?', 2);
    req.url = asOneSegment(canonicalPath(path)) + (query === undefined ? '' : `?${query}`);
    req.originalUrl = req.url;
    next();
  });
  if (options.uploads) app.use(boundUploads());
  app.use(
    OpenApiValidator.middleware({
      apiSpec: options.openapiFile,
      validateRequests: { allowUnknownQueryParameters: false, allErrors: true },
      validateResponses: options.validateResponses ?? false,
      validateApiSpec: false,
      validateSecurity: false,
      validateFormats: true,
      ...(options.uploads && { fileUploader: options.uploads }),
    }),
  );
  app.use(refuseUnusableQuery);
  mountOperations(app, operations, options);
  app.use(failedRequest(options.errorShape, log), lastResort(log));
  return app;
}

function mountOperations(app: Express, operations: Operation[], options: SurfaceOptions): void {
  const count = createRateCount({ pool: options.pool, log: options.log });
  const spend = rateLimit(options.rateLimits ?? DEFAULT_RATE_LIMITS, count);
  const handlers = new Map(Object.entries(options.operations));
  const missing: string[] = [];
  for (const operation of operations) {
    const handler = handlers.get(operation.id);
    handlers.delete(operation.id);
    if (!handler) {
      missing.push(`no handler for operation ${operation.id}`);
      continue;
    }
    const steps: RequestHandler[] = [admit(operation, options.authenticate, spend)];
    if (operation.idempotent) steps.push(idempotency(options.pool, operation.idempotent));
    app[operation.method](operation.path, ...steps, (req, res) => handler(req, res));
  }
  missing.push(...[...handlers.keys()].map((id) => `no operation for handler ${id}`));
  if (missing.length) throw new Error(`${options.openapiFile}: ${missing.join('; ')}`);
}

/** Who is calling, whether the caller has requests left, and whether this operation is for the caller. */
function admit(
  operation: Operation,
  authenticate: SurfaceOptions['authenticate'],
  spend: SpendRequest,
): RequestHandler {
  const { access } = operation;
  return async (req, res, next) => {
    req.operation = operation;
    let refused: unknown;
    if (access !== 'public') {
      try {
        const principal = await authenticate(req);
        if (principal) req.principal = operation.workspaceFromPath ? inPathWorkspace(principal, req) : principal;
      } catch (err) {
        // A bad credential takes from the budget of its address: guessing is limited too.
        if (!(err instanceof AppError) || err.kind === 'unavailable') throw err;
        refused = err;
      }
    }
    spend(operation, req, res);
    if (refused) throw refused;
    requireAccess(access, req.principal);
    next();
  };
}

function requireAccess(access: Operation['access'], principal: Principal | undefined): void {
  if (access === 'public' || access === 'optional') return;
  if (!principal) {
    throw new AppError('unauthorized', 'no_credential', 'sign in, or send a token: "Authorization: Bearer <token>"');
  }
  if (access !== 'account' && access !== 'user' && !roleAtLeast(principal.role, access)) {
    throw new AppError(
      'forbidden',
      'role_too_low',
      `this needs the role ${access} in the workspace; yours is ${principal.role}`,
    );
  }
}

/** The same caller in the workspace that the path names, with the role there. @throws AppError 404 */
function inPathWorkspace(principal: Principal, req: Request): Principal {
  const workspaceId = String(req.params.workspace_id);
  const role = Object.hasOwn(principal.memberships, workspaceId) ? principal.memberships[workspaceId] : undefined;
  if (!role) throw notFound('workspace', workspaceId);
  return { ...principal, workspaceId, role };
}

/** The caller of an operation that asks for a credential. */
export function callerOf(req: Request): Principal {
  if (!req.principal) throw new Error(`operation ${req.operation?.id} has no principal: is its x-access right?`);
  return req.principal;
}

const EXPOSED_HEADERS = [
  'X-Request-Id',
  'Retry-After',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'X-Total-Count',
  'X-Has-More',
  'X-Next-Before-Created-At',
  'X-Next-Before-Id',
  'X-Next-Cursor',
  'X-Next-After',
  'Link',
];

/** "Infinity" passes the validator as an integer, above any maximum; and no column holds NUL. */
const refuseUnusableQuery: RequestHandler = (req, _res, next) => {
  for (const [path, given] of Object.entries<unknown>(req.query)) {
    for (const value of [given].flat()) {
      if (typeof value === 'number' && !Number.isFinite(value)) {
        throw invalid([{ path, message: 'must be a finite number' }]);
      }
      if (typeof value === 'string' && value.includes('\0')) {
        throw invalid([{ path, message: 'must not contain NUL' }]);
      }
    }
  }
  next();
};

const noStore: RequestHandler = (_req, res, next) => {
  res.set('Cache-Control', 'no-store');
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
    // Paths only: a query may carry a webhook's token or a presigned signature. Where a path holds a token, as that of a
    // review link does, its kind is enough.
    serializers: {
      req: (req) => ({
        id: req.id,
        method: req.method,
        path: String(req.url).split('?')[0]?.replace(TOKEN_IN_PATH, '$1...'),
        address: req.remoteAddress,
      }),
      res: (res) => ({ status: res.statusCode }),
    },
    customLogLevel: (_req, res, err) =>
      err || res.statusCode >= 500 ? 'error' : res.statusCode >= 400 ? 'info' : 'debug',
    quietReqLogger: true,
  });
}
