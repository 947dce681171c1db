/**
 * Implements `Idempotency-Key`: a retried request creates no duplicate, and gets the response of the first one.
 *
 * The key is acquired before the handler runs, under a lease that this process renews meanwhile. The transaction that
 * creates the resource marks the key with its id (`createMarker`, or `idempotencyKey` of a new run), so that both
 * commit or neither, even after a crash. Afterwards the key's row alone decides the response to a retry:
 *
 * - the key is held: 409 `in_flight`, until the request or the lease of its process ends
 * - a resource was created: if the caller may see it (`RetryHandler.assertVisible`), the stored response; without one,
 * that
 *   of `RetryHandler.answer`, else 409 `already_done` with the id
 * - nothing was created: the request is executed. Refusals are not stored: a retry is checked again.
 *
 * A response with a one-time secret is never stored. Where only some responses of an operation contain one, its handler
 * sets `res.locals.holdsSecret`. See docs/adr/0021.
 */
import { createHash } from 'node:crypto';
import { execute, type Tx } from '@gantry/postgres';
import type { Request, Response } from 'express';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { AppError } from './errors';
import {
  findKey,
  type HeldKey,
  heldKeyValues,
  KEY_LEASE_MS,
  type KeptAnswer,
  type KeyName,
  keepAnswer,
  keyLost,
  MARK_KEY,
  releaseKey,
  renewKeys,
  takeKey,
} from './idempotency-keys';
import type { Operation } from './openapi-document';
import { networkOf } from './rate-limit';
import { type Repeated, repeat } from './repeat';

const RENEW_MS = KEY_LEASE_MS / 4;
const KEY_SHAPE = /^[\x21-\x7e]{1,255}$/;

export type Work = (req: Request, res: Response) => void | Promise<void>;

/** Handles a retry of a request that created a resource. */
export interface Revisit {
  /**
   * Repeats the checks of the first request and of a GET of its resource.
   * @throws AppError as they do: 404 if the resource no longer exists or is hidden from this caller
   */
  see(req: Request, madeId: string): Promise<unknown>;
  /** Responds to a retry whose first response was lost. Absent: 409 `already_done` with the id. */
  answer?(req: Request, res: Response, madeId: string): Promise<void>;
}

/**
 * Marks the key of a request with the created id, inside the transaction of the creation; does nothing for a request
 * without a key. A given `answer` is stored with it and cannot be lost.
 * @throws AppError 409 if another request has taken over the key: nothing may be committed then
 */
export type Made = (tx: Tx, id: string, answer?: { status: number; body: unknown }) => Promise<void>;

export function madeBy({ idempotencyKey: held }: { idempotencyKey?: HeldKey | undefined }): Made {
  return async (tx, id, answer) => {
    if (!held) return;
    const kept = answer ? [answer.status, JSON.stringify(answer.body)] : [null, null];
    if (!(await execute(tx, MARK_KEY, [...heldKeyValues(held), id, ...kept]))) throw keyLost();
  };
}

/** Creates a 409 for an executed request whose response cannot be replayed. */
export const alreadyDone = (madeId: string): AppError =>
  new AppError(
    'conflict',
    'already_done',
    `this request has been carried out and made ${madeId}; what its answer showed is shown once`,
    { fields: [{ path: 'id', message: madeId }] },
  );

/**
 * HMACs under keys that the database does not hold: a body may be the value of a secret, which a plain hash would
 * reveal.
 */
export interface KeyedHasher {
  /** Under the current key. */
  hash(text: string): { hash: Buffer };
  /** Under every key that is still configured. */
  candidates(text: string): Buffer[];
}

export interface OnceOptions {
  operation: string;
  /** The owner of the key. */
  scope: string;
  workspaceId: string | null;
  revisit: Revisit;
  /** Its response is never stored. */
  showsSecret?: boolean;
  /** The query is the caller's credential, and not part of the request's content. */
  queryIsCredential?: true;
}

export interface Idempotency {
  /**
   * Makes the handler of an `x-idempotent` operation honour the key. @throws Error if handler and operation disagree
   */
  honour(operation: Operation, work: Work, revisit: Revisit | undefined): Work;
  once(req: Request, res: Response, options: OnceOptions, work: Work): Promise<void>;
}

export function createIdempotency(deps: {
  pool: Pool;
  hasher: KeyedHasher;
  log: Logger;
  /** Tests: a handler that did not record what it created is a 500. */
  strict?: boolean;
}): Idempotency {
  const { pool, hasher, log } = deps;
  const leases = keepLeases(pool, log);

  async function once(req: Request, res: Response, options: OnceOptions, work: Work): Promise<void> {
    const key = req.get('Idempotency-Key');
    if (key === undefined) return work(req, res);
    if (!KEY_SHAPE.test(key)) {
      throw new AppError('invalid', 'invalid_idempotency_key', 'Idempotency-Key: 1 to 255 visible ASCII characters');
    }
    const name = { scope: options.scope, operation: options.operation, key };
    const text = requestText(req, options);
    const current = hasher.hash(text).hash;
    const held = await takeKey(pool, name, options.workspaceId, [current, ...hasher.candidates(text)]);
    if (!held) return answerAgain(req, res, name, options, hasher.candidates(text));
    req.idempotencyKey = held;
    leases.hold(held);
    try {
      const answer = await answerOf(res, () => work(req, res));
      const isKept = answer !== null && answer.status < 400;
      await release(req, held, isKept ? withoutSecret(answer, res, options) : null);
      if (answer) res.json(answer.body);
    } catch (err) {
      await release(req, held, null);
      throw err;
    } finally {
      leases.release(held);
    }
  }

  /** Releases the key. The caller gets the response even if the outcome cannot be stored. */
  async function release(req: Request, held: HeldKey, answer: KeptAnswer | null): Promise<void> {
    const madeId = await releaseKey(pool, held, answer).catch((err) => {
      req.log.warn({ err }, 'idempotency key not released: its lease will expire');
      return undefined;
    });
    if (!answer || madeId !== null) return;
    if (deps.strict) throw new Error(`${held.operation} did not record what it created`);
    log.error({ operation: held.operation }, 'an idempotent operation did not record what it created');
  }

  async function answerAgain(
    req: Request,
    res: Response,
    name: KeyName,
    options: OnceOptions,
    hashes: Buffer[],
  ): Promise<void> {
    const { revisit } = options;
    const state = await findKey(pool, name);
    if (state && !hashes.some((hash) => hash.equals(state.requestHash))) {
      throw new AppError('mismatch', 'idempotency_mismatch', 'this Idempotency-Key was used with another request');
    }
    if (!state || (!state.answer && (state.isHeld || state.madeId === null))) throw inFlight();
    const { madeId, answer } = state;
    if (madeId !== null) await revisit.see(req, madeId);
    if (answer ? answer.body === null : options.showsSecret || !revisit.answer) throw alreadyDone(madeId ?? '');
    const given = answer ?? (await answerOf(res, async () => revisit.answer?.(req, res, madeId as string)));
    if (!given) throw new Error(`${name.operation}: its revisit answers nothing`);
    if (!answer) {
      await keepAnswer(pool, name, given).catch((err) => req.log.warn({ err }, 'response of a retry not stored'));
    }
    if (given.location !== null) res.location(given.location);
    res.set('Idempotent-Replayed', 'true').status(given.status).json(given.body);
  }

  return {
    once,
    honour(operation, work, revisit) {
      const { idempotent, id } = operation;
      if (Boolean(idempotent) !== Boolean(revisit)) {
        throw new Error(`${id}: x-idempotent and a handler that can revisit go together`);
      }
      if (!revisit) return work;
      const showsSecret = idempotent === 'once';
      return (req, res) => once(req, res, { operation: id, revisit, showsSecret, ...scopeOf(req, operation) }, work);
    },
  };
}

/**
 * Returns the owner of a key. A user's credentials share their keys per workspace. Keys of account operations belong to
 * the user alone: selecting another workspace in between must not create a duplicate.
 */
function scopeOf({ principal, ip }: Request, { access }: Operation): { scope: string; workspaceId: string | null } {
  if (!principal) return { scope: `address:${networkOf(ip ?? 'unknown')}`, workspaceId: null };
  const { userId, tokenId, workspaceId } = principal;
  const who = String(userId ?? tokenId);
  return access === 'account' ? { scope: who, workspaceId: null } : { scope: `${who} ${workspaceId}`, workspaceId };
}

/** Builds a digest of the request, including the bytes of uploaded files. */
function requestText(req: Request, { queryIsCredential }: OnceOptions): string {
  const query = queryIsCredential ? null : req.query;
  const hash = createHash('sha256').update(JSON.stringify([req.method, req.path, query, req.body ?? null]));
  const files: Express.Multer.File[] = Array.isArray(req.files) ? req.files : [];
  for (const { fieldname, originalname, buffer } of files) {
    hash.update(`\n${JSON.stringify([fieldname, originalname, buffer.length])}\n`).update(buffer);
  }
  return `request ${hash.digest('hex')}`;
}

/** Captures the handler's response without sending it. Null if the handler has sent a response itself. */
async function answerOf(res: Response, work: () => void | Promise<void>): Promise<KeptAnswer | null> {
  const json = res.json;
  let answer: KeptAnswer | null = null;
  res.json = (body) => {
    answer = { status: res.statusCode, body, location: null };
    return res;
  };
  try {
    await work();
  } finally {
    res.json = json;
  }
  return answer && { ...(answer as KeptAnswer), location: res.get('Location') ?? null };
}

const withoutSecret = (answer: KeptAnswer, res: Response, { showsSecret }: OnceOptions): KeptAnswer =>
  showsSecret || res.locals.holdsSecret === true ? { ...answer, body: null } : answer;

const inFlight = () =>
  new AppError('conflict', 'in_flight', 'a request with this Idempotency-Key is still in progress', {
    retryAfterSeconds: 1,
  });

/** Renews leases while requests with a key are in progress. */
function keepLeases(pool: Pool, log: Logger): { hold(key: HeldKey): void; release(key: HeldKey): void } {
  const held = new Set<HeldKey>();
  let renewing: Repeated | undefined;
  return {
    hold(key) {
      held.add(key);
      renewing ??= repeat({
        everyMs: RENEW_MS,
        work: () => renewKeys(pool, held),
        what: 'leases of idempotency keys',
        log,
      });
    },
    release(key) {
      held.delete(key);
      if (held.size) return;
      void renewing?.stop();
      renewing = undefined;
    },
  };
}
