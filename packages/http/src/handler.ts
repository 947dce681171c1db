/**
 * Defines handlers of operations. A handler's input is typed by its operation's entry in the OpenAPI file and validated
 * against it; its result is sent. A handler that streams or redirects uses `res` and returns nothing.
 */
import type { ReceivedBy, Surface } from '@gantry/openapi';
import type { Request, Response } from 'express';
import { type Actor, actorOf } from './actor';
import { callerOf } from './admission';
import { type Made, madeBy, type Revisit, type Work } from './idempotency';
import type { Principal } from './principal';

/** Handlers of some operations of a surface. */
export type Operations<S extends Surface> = { [K in keyof ReceivedBy<S>]?: Handler<CallOf<S, K>> };

/** The request of one operation, for code shared by several handlers. */
export type CallOf<S extends Surface, Id extends keyof ReceivedBy<S>> = Call<
  Part<ReceivedBy<S>[Id], 'path'>,
  Part<ReceivedBy<S>[Id], 'query'>,
  BodyOf<ReceivedBy<S>[Id]>
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
  made: Made;
  req: Request;
  res: Response;
}

/** The caller of a request, for services that change data. */
export type Requester = Pick<Call, 'caller' | 'actor' | 'made'>;

type Part<Op, Name extends string> = Op extends { parameters: infer Parameters }
  ? NonNullable<Parameters[Name & keyof Parameters]>
  : unknown;

/** Body of an operation: the union of what its content types, such as JSON or a form, allow. */
type BodyOf<Op> = Op extends { requestBody: { content: infer Content } }
  ? Content[keyof Content]
  : Op extends { requestBody?: { content: infer Content } }
    ? Content[keyof Content] | undefined
    : undefined;

// biome-ignore lint/suspicious/noConfusingVoidType: a handler that answers by `res` returns nothing
export type Answered = Answer | undefined | void;

/** Handles an operation, or creates the resource of an operation with `x-idempotent`. */
export type Handler<C> = ((call: C) => Answered | Promise<Answered>) | Creating<C>;

export interface Creating<C> {
  make(call: C): Answered | Promise<Answered>;
  /**
   * Repeats, for a retry after the creation, the checks of the first request and of a GET of its resource.
   * @throws AppError as they do: 404 if the resource no longer exists or is hidden from this caller
   */
  see(call: C, madeId: string): unknown;
  /** Responds to a retry of a request whose response was lost. Absent: 409 `already_done` with the id. */
  answer?(call: C, madeId: string): Answered | Promise<Answered>;
}

/** Handlers by operationId, of any surface. */
export type AnyOperations = Record<string, Handler<never> | undefined>;

export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}

export const answer = (status: number, body: unknown, headers: Record<string, string> = {}): Answer => ({
  status,
  headers,
  body,
});
export const ok = (body: unknown, headers?: Record<string, string>): Answer => answer(200, body, headers);
export const created = (body: unknown, headers?: Record<string, string>): Answer => answer(201, body, headers);
export const noContent = (): Answer => ({ status: 204 });

/** Adapts a handler to Express; an idempotent one also gets the handling of retries. */
export function expressForm(typed: Handler<never>): { work: Work; revisit?: Revisit } {
  const handler = typed as Handler<Call>;
  if (typeof handler === 'function') return { work: async (req, res) => send(res, await handler(callOf(req, res))) };
  const { make, see, answer } = handler;
  return {
    work: async (req, res) => send(res, await make(callOf(req, res))),
    revisit: {
      see: async (req, madeId) => see(callOf(req, req.res as Response), madeId),
      ...(answer && { answer: async (req, res, madeId) => send(res, await answer(callOf(req, res), madeId)) }),
    },
  };
}

function callOf(req: Request, res: Response): Call {
  return {
    ...{ path: req.params, query: req.query, body: req.body, made: madeBy(req), req, res },
    files: Array.isArray(req.files) ? req.files : [],
    get caller() {
      return callerOf(req);
    },
    get actor() {
      return actorOf(req);
    },
  };
}

function send(res: Response, answered: Answered): void {
  if (!answered) return;
  const { status, headers, body } = answered;
  res.status(status);
  if (headers) res.set(headers);
  if (body === undefined) res.end();
  else res.json(body);
}
