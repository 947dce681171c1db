/**
 * Ends streaming responses, such as live events, when their caller may no longer see them.
 *
 * Each second, the credential of every stream is authenticated again, once for all streams of a credential; cached
 * results are used as for requests, so a revocation acts as fast. While authentication is unavailable, a stream
 * continues for UNCONFIRMED_MS_MAX.
 */

import { AppError, isDependencyDown } from '@gantry/errors';
import { createSlots, hasRoleAtLeast, type Principal, type SlotLimits } from '@gantry/limits';
import type { Request, Response } from 'express';
import type { Operation } from './openapi-document';

/** The contract's defaults. Counted by each replica for itself. */
export const DEFAULT_STREAM_LIMITS: SlotLimits = { perCredential: 20, perAddress: 100 };

const CHECK_INTERVAL_MS = 1_000;
/** As long as cached identities are used elsewhere without authentication. */
const UNCONFIRMED_MS_MAX = 30_000;
/** A client that reads nothing is disconnected after this time. */
const END_TIMEOUT_MS = 2_000;

type Authenticate = (req: Request) => Promise<Principal | null>;

interface Stream {
  req: Request;
  res: Response;
  operation: Operation;
  authenticate: Authenticate;
  /** Another condition, besides the credential. Streams with the same name share one check. */
  extraCheck?: { name: string; check: () => Promise<unknown> };
  /** Time since which access cannot be confirmed; null: it is confirmed. */
  unsureSince: number | null;
}

const openStreamSet = new Set<Stream>();
let checkTimer: NodeJS.Timeout | undefined;
let isChecking = false;

export function createStreamRegistry(authenticate: Authenticate, limits: SlotLimits = DEFAULT_STREAM_LIMITS) {
  const slots = createSlots('live streams', limits);
  return {
    /** Tracks the stream until its response is closed. @throws AppError 429 */
    open(req: Request, res: Response, operation: Operation) {
      const release = slots.acquire(req);
      const stream: Stream = { req, res, operation, authenticate, unsureSince: null };
      openStreamSet.add(stream);
      res.once('close', () => {
        openStreamSet.delete(stream);
        release();
      });
      checkTimer ??= setInterval(() => void checkStreams(), CHECK_INTERVAL_MS).unref();
    },
  };
}

/**
 * Ends the stream of `req` when `check` throws.
 * @param name streams with the same name share one check each second
 */
export function addStreamCheck(req: Request, name: string, check: () => Promise<unknown>): void {
  for (const stream of openStreamSet) if (stream.req === req) stream.extraCheck = { name, check };
}

async function checkStreams(): Promise<void> {
  if (!openStreamSet.size) {
    clearInterval(checkTimer);
    checkTimer = undefined;
    return;
  }
  // A check takes longer than a second only while a dependency is down.
  if (isChecking) return;
  isChecking = true;
  const principals = new Map<string, Promise<Principal | null>>();
  const checks = new Map<string, Promise<unknown>>();
  await Promise.all(
    [...openStreamSet].map(async (stream) => {
      try {
        await reauthenticateStream(stream, principals, checks);
        stream.unsureSince = null;
      } catch (err) {
        if (!isAuthenticationUnavailable(err)) return endStream(stream);
        stream.unsureSince ??= Date.now();
        if (Date.now() - stream.unsureSince > UNCONFIRMED_MS_MAX) endStream(stream);
      }
    }),
  );
  isChecking = false;
}

/** @throws if access is refused or cannot be confirmed */
async function reauthenticateStream(
  { req, operation, authenticate, extraCheck }: Stream,
  principals: Map<string, Promise<Principal | null>>,
  checks: Map<string, Promise<unknown>>,
): Promise<void> {
  if (req.principal) {
    const principal = await memoize(principals, buildCredentialKey(req), () => authenticate(req));
    assertStillMember(operation, req.principal.workspaceId, principal);
  }
  if (extraCheck) await memoize(checks, extraCheck.name, extraCheck.check);
}

function memoize<T>(cache: Map<string, Promise<T>>, name: string, compute: () => Promise<T>): Promise<T> {
  const result = cache.get(name) ?? compute();
  cache.set(name, result);
  return result;
}

/** Builds a key of all headers that identify the caller. */
const buildCredentialKey = ({ headers }: Request): string =>
  JSON.stringify([headers.authorization, headers['x-svc-token'], headers.cookie, headers['x-svc-workspace']]);

/** @throws Error if the caller has lost the workspace, or the required role there */
function assertStillMember({ access }: Operation, workspaceId: string, principal: Principal | null): void {
  const { memberships = {} } = principal ?? {};
  const role = Object.hasOwn(memberships, workspaceId) ? memberships[workspaceId] : undefined;
  if (!role) throw new Error('the caller is no longer a member of the workspace');
  const isForAny = access === 'public' || access === 'optional' || access === 'account' || access === 'user';
  if (!isForAny && !hasRoleAtLeast(role, access)) throw new Error("the caller's role is now too low");
}

const isAuthenticationUnavailable = (err: unknown): boolean =>
  err instanceof AppError ? err.kind === 'unavailable' : isDependencyDown(err);

function endStream(stream: Stream): void {
  const { res } = stream;
  openStreamSet.delete(stream);
  if (res.closed) return;
  res.end();
  const timer = setTimeout(() => res.destroy(), END_TIMEOUT_MS).unref();
  res.once('close', () => clearTimeout(timer));
}
