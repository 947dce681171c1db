/**
 * Implements `Idempotency-Key`: a retried request creates no duplicate, and gets the response of the first one.
 *
 * The key is acquired before the handler runs, under a lease that this process renews meanwhile. The transaction that
 * creates the resource marks the key with its id (`createCreationMarker`, or `idempotencyKey` of a new run), so that
 * both commit or neither, even after a crash. Afterwards the key's row alone decides the response to a retry:
 *
 * - the key is held: 409 `in_flight`, until the request or the lease of its process ends
 * - a resource was created: if the caller may see it (`RetryHandler.assertVisible`), the stored response; without one,
 *   that of `RetryHandler.answer`, else 409 `already_done` with the id
 * - nothing was created: the request is executed. Refusals are not stored: a retry is checked again.
 *
 * A response with a one-time secret is never stored. Where only some responses of an operation contain one, its handler
 * sets `res.locals.holdsSecret`. See docs/adr/0021.
 */
import { createHash } from 'node:crypto';
import { AppError } from '@gantry/errors';
import { execute, type RepeatingTask, startRepeatingTask, type Tx } from '@gantry/postgres';
import type { Request, Response } from 'express';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { AccessRule } from './admission';
import {
  acquireKey,
  findKey,
  type HeldKey,
  KEY_LEASE_MS,
  type KeyName,
  keyLostError,
  MARK_KEY,
  releaseKey,
  renewKeys,
  type StoredResponse,
  storeResponse,
  toHeldKeyValues,
} from './idempotency-keys';
import { toNetwork } from './rate-limit';

const RENEW_MS = KEY_LEASE_MS / 4;
const KEY_PATTERN = /^[\x21-\x7e]{1,255}$/;

export type OperationHandler = (req: Request, res: Response) => void | Promise<void>;

/** Handles a retry of a request that created a resource. */
export interface RetryHandler {
  /**
   * Repeats the checks of the first request and of a GET of its resource.
   * @throws AppError as they do: 404 if the resource no longer exists or is hidden from this caller
   */
  assertVisible(req: Request, madeId: string): Promise<unknown>;
  /** Responds to a retry whose first response was lost. Absent: 409 `already_done` with the id. */
  answer?(req: Request, res: Response, madeId: string): Promise<void>;
}

/**
 * Marks the key of a request with the created id, inside the transaction of the creation; does nothing for a request
 * without a key. A given `answer` is stored with it and cannot be lost.
 * @throws AppError 409 if another request has taken over the key: nothing may be committed then
 */
export type MarkCreated = (tx: Tx, id: string, answer?: { status: number; body: unknown }) => Promise<void>;

export function createCreationMarker({
  idempotencyKey: heldKey,
}: {
  idempotencyKey?: HeldKey | undefined;
}): MarkCreated {
  return async (tx, id, answer) => {
    if (!heldKey) return;
    const kept = answer ? [answer.status, JSON.stringify(answer.body)] : [null, null];
    if (!(await execute(tx, MARK_KEY, [...toHeldKeyValues(heldKey), id, ...kept]))) throw keyLostError();
  };
}

/** Creates a 409 for an executed request whose response cannot be replayed. */
export const alreadyDoneError = (createdId: string): AppError =>
  new AppError(
    'conflict',
    'already_done',
    `this request has already been carried out and created ${createdId}; its response is shown only once`,
    { fields: [{ path: 'id', message: createdId }] },
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

export interface IdempotentOptions {
  operation: string;
  /** The owner of the key. */
  scope: string;
  workspaceId: string | null;
  revisit: RetryHandler;
  /** Its response is never stored. */
  showsSecret?: boolean;
  /** The query is the caller's credential, and not part of the request's content. */
  queryIsCredential?: true;
}

/** The fields of an operation by which its requests are idempotent. */
interface IdempotentOperation {
  id: string;
  access: AccessRule;
  /** `once`: its response contains a secret and is not stored. */
  idempotent: boolean | 'once';
}

export type Idempotency = ReturnType<typeof createIdempotency>;

export function createIdempotency(deps: {
  pool: Pool;
  hasher: KeyedHasher;
  log: Logger;
  /** Tests: a handler that did not record what it created is a 500. */
  strict?: boolean;
}) {
  const { pool, hasher, log } = deps;
  const leases = createLeaseRenewal(pool, log);

  async function runIdempotently(
    req: Request,
    res: Response,
    options: IdempotentOptions,
    handler: OperationHandler,
  ): Promise<void> {
    const key = req.get('Idempotency-Key');
    if (key === undefined) return handler(req, res);
    if (!KEY_PATTERN.test(key)) {
      throw new AppError(
        'invalid',
        'invalid_idempotency_key',
        'Idempotency-Key must be 1 to 255 visible ASCII characters',
      );
    }
    const name = { scope: options.scope, operation: options.operation, key };
    const text = buildRequestDigest(req, options);
    const current = hasher.hash(text).hash;
    const heldKey = await acquireKey(pool, name, options.workspaceId, [current, ...hasher.candidates(text)]);
    if (!heldKey) return replayResponse(req, res, name, options, hasher.candidates(text));
    req.idempotencyKey = heldKey;
    leases.hold(heldKey);
    try {
      const answer = await captureResponse(res, () => handler(req, res));
      const isStorable = answer !== null && answer.status < 400;
      await releaseHeldKey(req, heldKey, isStorable ? stripSecretResponse(answer, res, options) : null);
      if (answer) res.json(answer.body);
    } catch (err) {
      await releaseHeldKey(req, heldKey, null);
      throw err;
    } finally {
      leases.release(heldKey);
    }
  }

  /** Releases the key. The caller gets the response even if the outcome cannot be stored. */
  async function releaseHeldKey(req: Request, heldKey: HeldKey, response: StoredResponse | null): Promise<void> {
    const madeId = await releaseKey(pool, heldKey, response).catch((err) => {
      req.log.warn({ err }, 'idempotency key not released: its lease will expire');
      return undefined;
    });
    if (!response || madeId !== null) return;
    if (deps.strict) throw new Error(`${heldKey.operation} did not record what it created`);
    log.error({ operation: heldKey.operation }, 'an idempotent operation did not record what it created');
  }

  async function replayResponse(
    req: Request,
    res: Response,
    name: KeyName,
    options: IdempotentOptions,
    hashes: Buffer[],
  ): Promise<void> {
    const { revisit } = options;
    const state = await findKey(pool, name);
    if (state && !hashes.some((hash) => hash.equals(state.requestHash))) {
      throw new AppError(
        'mismatch',
        'idempotency_mismatch',
        'this Idempotency-Key has already been used for a different request',
      );
    }
    if (!state || (!state.answer && (state.isHeld || state.madeId === null))) throw inFlightError();
    const { madeId, answer } = state;
    if (madeId !== null) await revisit.assertVisible(req, madeId);
    if (answer ? answer.body === null : options.showsSecret || !revisit.answer) throw alreadyDoneError(madeId ?? '');
    const response = answer ?? (await captureResponse(res, async () => revisit.answer?.(req, res, madeId as string)));
    if (!response) throw new Error(`${name.operation}: revisit sent no response`);
    if (!answer) {
      await storeResponse(pool, name, response).catch((err) =>
        req.log.warn({ err }, 'could not store the response to a retry'),
      );
    }
    if (response.location !== null) res.location(response.location);
    res.set('Idempotent-Replayed', 'true').status(response.status).json(response.body);
  }

  return {
    once: runIdempotently,
    /** Makes the handler of an `x-idempotent` operation honour the key. @throws Error if handler and operation disagree */
    wrapHandler(
      operation: IdempotentOperation,
      handler: OperationHandler,
      revisit: RetryHandler | undefined,
    ): OperationHandler {
      const { idempotent, id } = operation;
      if (Boolean(idempotent) !== Boolean(revisit)) {
        throw new Error(`${id}: x-idempotent requires a handler with a revisit, and vice versa`);
      }
      if (!revisit) return handler;
      const showsSecret = idempotent === 'once';
      return (req, res) =>
        runIdempotently(req, res, { operation: id, revisit, showsSecret, ...getScope(req, operation) }, handler);
    },
  };
}

/**
 * Returns the owner of a key. A user's credentials share their keys per workspace. Keys of account operations belong to
 * the user alone: selecting another workspace in between must not create a duplicate.
 */
function getScope(
  { principal, ip }: Request,
  { access }: IdempotentOperation,
): { scope: string; workspaceId: string | null } {
  if (!principal) return { scope: `address:${toNetwork(ip ?? 'unknown')}`, workspaceId: null };
  const { userId, tokenId, workspaceId } = principal;
  const callerId = String(userId ?? tokenId);
  return access === 'account'
    ? { scope: callerId, workspaceId: null }
    : { scope: `${callerId} ${workspaceId}`, workspaceId };
}

/** Builds a digest of the request, including the bytes of uploaded files. */
function buildRequestDigest(req: Request, { queryIsCredential }: IdempotentOptions): string {
  const query = queryIsCredential ? null : req.query;
  const hash = createHash('sha256').update(JSON.stringify([req.method, req.path, query, req.body ?? null]));
  const files: Express.Multer.File[] = Array.isArray(req.files) ? req.files : [];
  for (const { fieldname, originalname, buffer } of files) {
    hash.update(`\n${JSON.stringify([fieldname, originalname, buffer.length])}\n`).update(buffer);
  }
  return `request ${hash.digest('hex')}`;
}

/** Captures the handler's response without sending it. Null if the handler has sent a response itself. */
async function captureResponse(res: Response, handler: () => void | Promise<void>): Promise<StoredResponse | null> {
  const json = res.json;
  let answer: StoredResponse | null = null;
  res.json = (body) => {
    answer = { status: res.statusCode, body, location: null };
    return res;
  };
  try {
    await handler();
  } finally {
    res.json = json;
  }
  return answer && { ...(answer as StoredResponse), location: res.get('Location') ?? null };
}

const stripSecretResponse = (
  answer: StoredResponse,
  res: Response,
  { showsSecret }: IdempotentOptions,
): StoredResponse => (showsSecret || res.locals.holdsSecret === true ? { ...answer, body: null } : answer);

const inFlightError = () =>
  new AppError('conflict', 'in_flight', 'a request with this Idempotency-Key is still in progress', {
    retryAfterSeconds: 1,
  });

/** Renews leases while requests with a key are in progress. */
function createLeaseRenewal(pool: Pool, log: Logger): { hold(key: HeldKey): void; release(key: HeldKey): void } {
  const heldKey = new Set<HeldKey>();
  let renewing: RepeatingTask | undefined;
  return {
    hold(key) {
      heldKey.add(key);
      renewing ??= startRepeatingTask({
        everyMs: RENEW_MS,
        work: () => renewKeys(pool, heldKey),
        what: 'idempotency key leases',
        log,
      });
    },
    release(key) {
      heldKey.delete(key);
      if (heldKey.size) return;
      void renewing?.stop();
      renewing = undefined;
    },
  };
}
