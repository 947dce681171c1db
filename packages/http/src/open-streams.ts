/**
 * Ends streaming responses, such as live events, when their caller may no longer see them.
 *
 * Each second, the credential of every stream is authenticated again, once for all streams of a credential; cached
 * results are used as for requests, so a revocation acts as fast. While authentication is unavailable, a stream
 * continues for UNCONFIRMED_MS_MAX.
 */
import type { Request, Response } from 'express';
import { AppError, isDependencyDown } from './errors';
import type { Operation } from './openapi-document';
import { type PlaceLimits, places } from './places';
import { type Principal, roleAtLeast } from './principal';

/** The contract's defaults. Counted by each replica for itself. */
export const DEFAULT_STREAM_LIMITS: PlaceLimits = { perCredential: 20, perAddress: 100 };

const LOOK_MS = 1_000;
/** As long as cached identities are used elsewhere without authentication. */
const UNSURE_MS = 30_000;
/** A client that reads nothing is disconnected after this time. */
const ENDING_MS = 2_000;

type Authenticate = (req: Request) => Promise<Principal | null>;

interface Stream {
  req: Request;
  res: Response;
  operation: Operation;
  authenticate: Authenticate;
  /** Another condition, besides the credential. Streams with the same name share one check. */
  also?: { name: string; check: () => Promise<unknown> };
  /** Time since which access cannot be confirmed; null: it is confirmed. */
  unsureSince: number | null;
}

const open = new Set<Stream>();
let looking: NodeJS.Timeout | undefined;
let isLooking = false;

export function openStreams(authenticate: Authenticate, limits: PlaceLimits = DEFAULT_STREAM_LIMITS) {
  const taken = places('live streams', limits);
  return {
    /** Tracks the stream until its response is closed. @throws AppError 429 */
    open(req: Request, res: Response, operation: Operation) {
      const giveBack = taken.take(req);
      const stream: Stream = { req, res, operation, authenticate, unsureSince: null };
      open.add(stream);
      res.once('close', () => {
        open.delete(stream);
        giveBack();
      });
      looking ??= setInterval(() => void look(), LOOK_MS).unref();
    },
  };
}

/**
 * Ends the stream of `req` when `check` throws.
 * @param name streams with the same name share one check each second
 */
export function endWhenRefused(req: Request, name: string, check: () => Promise<unknown>): void {
  for (const stream of open) if (stream.req === req) stream.also = { name, check };
}

/** Ends the workspace's streams in this process; a client that reconnects is authenticated again. */
export function endStreamsOfWorkspace(workspaceId: string): void {
  for (const stream of open) if (stream.req.principal?.workspaceId === workspaceId) end(stream);
}

async function look(): Promise<void> {
  if (!open.size) {
    clearInterval(looking);
    looking = undefined;
    return;
  }
  // A check takes longer than a second only while a dependency is down.
  if (isLooking) return;
  isLooking = true;
  const askedOf = new Map<string, Promise<Principal | null>>();
  const checked = new Map<string, Promise<unknown>>();
  await Promise.all(
    [...open].map(async (stream) => {
      try {
        await confirm(stream, askedOf, checked);
        stream.unsureSince = null;
      } catch (err) {
        if (!isUnsure(err)) return end(stream);
        stream.unsureSince ??= Date.now();
        if (Date.now() - stream.unsureSince > UNSURE_MS) end(stream);
      }
    }),
  );
  isLooking = false;
}

/** @throws if access is refused or cannot be confirmed */
async function confirm(
  { req, operation, authenticate, also }: Stream,
  askedOf: Map<string, Promise<Principal | null>>,
  checked: Map<string, Promise<unknown>>,
): Promise<void> {
  if (req.principal) {
    const principal = await once(askedOf, credentialText(req), () => authenticate(req));
    requireStill(operation, req.principal.workspaceId, principal);
  }
  if (also) await once(checked, also.name, also.check);
}

function once<T>(known: Map<string, Promise<T>>, name: string, ask: () => Promise<T>): Promise<T> {
  const asked = known.get(name) ?? ask();
  known.set(name, asked);
  return asked;
}

/** Builds a key of all headers that identify the caller. */
const credentialText = ({ headers }: Request): string =>
  JSON.stringify([headers.authorization, headers['x-svc-token'], headers.cookie, headers['x-svc-workspace']]);

/** @throws Error if the caller has lost the workspace, or the required role there */
function requireStill({ access }: Operation, workspaceId: string, principal: Principal | null): void {
  const { memberships = {} } = principal ?? {};
  const role = Object.hasOwn(memberships, workspaceId) ? memberships[workspaceId] : undefined;
  if (!role) throw new Error('no longer a member');
  const isForAny = access === 'public' || access === 'optional' || access === 'account' || access === 'user';
  if (!isForAny && !roleAtLeast(role, access)) throw new Error('the role is now too low');
}

const isUnsure = (err: unknown): boolean =>
  err instanceof AppError ? err.kind === 'unavailable' : isDependencyDown(err);

function end(stream: Stream): void {
  const { res } = stream;
  open.delete(stream);
  if (res.closed) return;
  res.end();
  const timer = setTimeout(() => res.destroy(), ENDING_MS).unref();
  res.once('close', () => clearTimeout(timer));
}
