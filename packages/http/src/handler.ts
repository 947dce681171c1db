/**
 * Handlers of operations. What a handler gets is typed by its operation's entry in the OpenAPI file, and has been checked
 * against it; what it returns is sent. One that streams or redirects uses `res` and returns nothing.
 */
import type { ReceivedBy, Surface } from '@gantry/openapi';
import type { Request, Response } from 'express';
import { type Actor, actorOf } from './actor';
import { callerOf } from './admission';
import { type Made, madeBy, type Revisit, type Work } from './idempotency';
import type { Principal } from './principal';

/** Handlers of some operations of a surface. */
export type Operations<S extends Surface> = { [K in keyof ReceivedBy<S>]?: Handler<CallOf<S, K>> };

/** The request of one operation, for what several handlers share. */
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
  /** The same, for the audit log. */
  readonly actor: Actor;
  /** For the Idempotency-Key of the request. */
  made: Made;
  req: Request;
  res: Response;
}

/** The caller of a request, for services that change something. */
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

/** Handles an operation, or makes what an operation with `x-idempotent` makes. */
export type Handler<C> = ((call: C) => Answered | Promise<Answered>) | Creating<C>;

export interface Creating<C> {
  make(call: C): Answered | Promise<Answered>;
  /**
   * For a request that comes again after something was made: the checks of the first request, and of a GET of what it made.
   * @throws AppError as they do: 404 for what is not there any more or not for this caller
   */
  see(call: C, madeId: string): unknown;
  /** Answers in the place of a request whose answer was lost. Absent: 409 `already_done` with the id. */
  answer?(call: C, madeId: string): Answered | Promise<Answered>;
}

/** Handlers by operationId, of whichever surface. */
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

/** A handler as Express calls it, and where it makes something, what is done when its request comes again. */
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
