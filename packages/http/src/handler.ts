/**
 * Defines handlers of operations. A handler's input is typed by its operation's entry in the OpenAPI file and validated
 * against it; its result is sent. A handler that streams or redirects uses `res` and returns nothing.
 */

import {
  createCreationMarker,
  type MarkCreated,
  type OperationHandler,
  type Principal,
  type RetryHandler,
} from '@gantry/limits';
import type { ReceivedRequests, Surface } from '@gantry/openapi';
import type { Request, Response } from 'express';
import { type Actor, toActor } from './actor';
import { getCaller } from './caller';

/** Handlers of some operations of a surface. */
export type Operations<S extends Surface> = { [K in keyof ReceivedRequests<S>]?: Handler<OperationCall<S, K>> };

/** The request of one operation, for code shared by several handlers. */
export type OperationCall<S extends Surface, Id extends keyof ReceivedRequests<S>> = Call<
  Part<ReceivedRequests<S>[Id], 'path'>,
  Part<ReceivedRequests<S>[Id], 'query'>,
  RequestBody<ReceivedRequests<S>[Id]>
>;

export interface Call<Path = unknown, Query = unknown, Body = unknown> {
  path: Path;
  query: Query;
  body: Body;
  /** Files of a form, in its order. */
  files: Express.Multer.File[];
  /** For an operation that requires a credential. */
  readonly caller: Principal;
  /** The caller, for the audit log. */
  readonly actor: Actor;
  /** Records what was created under the request's Idempotency-Key. */
  markCreated: MarkCreated;
  req: Request;
  res: Response;
}

/** The caller of a request, for services that change data. */
export type Requester = Pick<Call, 'caller' | 'actor' | 'markCreated'>;

type Part<Op, Name extends string> = Op extends { parameters: infer Parameters }
  ? NonNullable<Parameters[Name & keyof Parameters]>
  : unknown;

/** Body of an operation: the union of what its content types, such as JSON or a form, allow. */
type RequestBody<Op> = Op extends { requestBody: { content: infer Content } }
  ? Content[keyof Content]
  : Op extends { requestBody?: { content: infer Content } }
    ? Content[keyof Content] | undefined
    : undefined;

// biome-ignore lint/suspicious/noConfusingVoidType: a handler that answers by `res` returns nothing
export type HandlerResult = HandlerResponse | undefined | void;

/** Handles an operation, or creates the resource of an operation with `x-idempotent`. */
export type Handler<C> = ((call: C) => HandlerResult | Promise<HandlerResult>) | IdempotentHandler<C>;

export interface IdempotentHandler<C> {
  create(call: C): HandlerResult | Promise<HandlerResult>;
  /**
   * Repeats, for a retry after the creation, the checks of the first request and of a GET of its resource.
   * @throws AppError as they do: 404 if the resource no longer exists or is hidden from this caller
   */
  assertVisible(call: C, madeId: string): unknown;
  /** Responds to a retry of a request whose response was lost. Absent: 409 `already_done` with the id. */
  answer?(call: C, madeId: string): HandlerResult | Promise<HandlerResult>;
}

/** Handlers by operationId, of any surface. */
export type AnyOperations = Record<string, Handler<never> | undefined>;

export interface HandlerResponse {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}

export const respondWith = (status: number, body: unknown, headers: Record<string, string> = {}): HandlerResponse => ({
  status,
  headers,
  body,
});
export const ok = (body: unknown, headers?: Record<string, string>): HandlerResponse => respondWith(200, body, headers);
export const created = (body: unknown, headers?: Record<string, string>): HandlerResponse =>
  respondWith(201, body, headers);
export const noContent = (): HandlerResponse => ({ status: 204 });

/** Adapts a handler to Express; an idempotent one also gets the handling of retries. */
export function toExpressHandler(typedHandler: Handler<never>): { work: OperationHandler; revisit?: RetryHandler } {
  const handler = typedHandler as Handler<Call>;
  if (typeof handler === 'function') return { work: async (req, res) => send(res, await handler(buildCall(req, res))) };
  const { create, assertVisible, answer } = handler;
  return {
    work: async (req, res) => send(res, await create(buildCall(req, res))),
    revisit: {
      assertVisible: async (req, madeId) => assertVisible(buildCall(req, req.res as Response), madeId),
      ...(answer && { answer: async (req, res, madeId) => send(res, await answer(buildCall(req, res), madeId)) }),
    },
  };
}

function buildCall(req: Request, res: Response): Call {
  return {
    path: req.params,
    query: req.query,
    body: req.body,
    markCreated: createCreationMarker(req),
    req,
    res,
    files: Array.isArray(req.files) ? req.files : [],
    get caller() {
      return getCaller(req);
    },
    get actor() {
      return toActor(req);
    },
  };
}

function send(res: Response, result: HandlerResult): void {
  if (!result) return;
  const { status, headers, body } = result;
  res.status(status);
  if (headers) res.set(headers);
  if (body === undefined) res.end();
  else res.json(body);
}
