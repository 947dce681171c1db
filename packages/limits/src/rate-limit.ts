import { isIPv6 } from 'node:net';
import { AppError } from '@gantry/errors';
import type { Request, Response } from 'express';
import { type BudgetState, type RateCount, WINDOW_MS } from './rate-counter';

export interface RateLimits {
  requestsPerMinute: number;
  runsPerMinute: number;
  signInsPerMinute: number;
}

/** The rate limit that applies to an operation; `none` is for probes and streams' reconnects. */
export const rateLimitKinds = ['requests', 'runs', 'sign-in', 'none'] as const;

/** The field of an operation by which its requests are counted. */
export interface RateLimitedOperation {
  limit: (typeof rateLimitKinds)[number];
}

/** The contract's defaults. */
export const DEFAULT_RATE_LIMITS: RateLimits = { requestsPerMinute: 600, runsPerMinute: 120, signInsPerMinute: 10 };

/**
 * Bad credentials that an address may send, as a multiple of its budget, before its credentials are no longer checked.
 */
const GUESSES_PER_REQUEST = 10;

/** Each method throws AppError 429, and sets rate limit headers. */
export type RateLimiter = ReturnType<typeof createRateLimiter>;

export function createRateLimiter(limits: RateLimits, count: RateCount) {
  const limitByKind = {
    requests: limits.requestsPerMinute,
    runs: limits.runsPerMinute,
    'sign-in': limits.signInsPerMinute,
  };
  const guessesMax = limits.requestsPerMinute * GUESSES_PER_REQUEST;

  function consume(kind: keyof typeof limitByKind, caller: string, res: Response) {
    const limit = limitByKind[kind];
    const spent = count.spend(`${kind} ${caller}`, limit);
    setRateLimitHeaders(res, limit, spent);
    if (!spent.allowed) throw rateLimitError(limit, spent);
  }

  const setRequestHeaders = (caller: string, res: Response) =>
    setRateLimitHeaders(res, limitByKind.requests, count.peek(`requests ${caller}`, limitByKind.requests));

  return {
    /**
     * Called before a credential is checked. Credentials of an address far beyond its budget are no longer checked;
     * below that a valid credential is accepted, since others may share the address.
     */
    assertMayGuess(req: Request, res: Response) {
      const budget = count.peek(`guesses ${getAddressKey(req)}`, guessesMax);
      if (budget.remaining) return;
      setRateLimitHeaders(res, guessesMax, budget);
      throw rateLimitError(guessesMax, budget);
    },
    /** Sets the headers of the address' budget, without spending, if the caller cannot be identified. */
    show: (req: Request, res: Response) => setRequestHeaders(getAddressKey(req), res),
    /** Charges a bad credential to the budget of its address, for any operation. */
    spendOnGuess({ limit }: RateLimitedOperation, req: Request, res: Response) {
      count.spend(`guesses ${getAddressKey(req)}`, guessesMax);
      consume(limit === 'none' ? 'requests' : limit, getAddressKey(req), res);
    },
    /** Charges a request without an operation, such as an unknown path, to the budget of its address. */
    spendOnAddress: (req: Request, res: Response) => consume('requests', getAddressKey(req), res),
    /** Charges the credential, or the address without one; sign-in always the address. */
    spend({ limit }: RateLimitedOperation, req: Request, res: Response) {
      if (limit === 'none') return setRequestHeaders(findCredentialKey(req) ?? getAddressKey(req), res);
      const caller = limit === 'sign-in' ? undefined : findCredentialKey(req);
      consume(limit, caller ?? getAddressKey(req), res);
    },
  };
}

/** Returns at most one window, although a debt from the previous window can last longer. */
export const getRetryAfterSeconds = ({ waitMs }: BudgetState): number =>
  Math.max(1, Math.ceil(Math.min(waitMs, WINDOW_MS) / 1000));

function setRateLimitHeaders(res: Response, limit: number, budget: BudgetState): void {
  res.set({
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': String(budget.remaining),
    'RateLimit-Reset': String(getRetryAfterSeconds(budget)),
  });
}

function rateLimitError(limit: number, budget: BudgetState): AppError {
  const waitSeconds = getRetryAfterSeconds(budget);
  const detail = `more than ${limit} requests in a minute; try again in ${waitSeconds} s`;
  return new AppError('rate_limited', 'rate_limited', detail, { retryAfterSeconds: waitSeconds });
}

/** Returns undefined without a valid credential. */
export function findCredentialKey({ principal }: Request): string | undefined {
  return principal && (principal.tokenId ?? `user:${principal.userId}`);
}

export const getAddressKey = (req: Request): string => `address:${toNetwork(req.ip ?? 'unknown')}`;

/** Maps an IPv6 address to its /64, which one customer usually has. */
export function toNetwork(address: string): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address.replace(/^::ffff:/, '');
  const [head = '', tail = ''] = (address.split('%')[0] as string).split('::');
  const left = head ? head.split(':') : [];
  const right = tail ? tail.split(':') : [];
  const zeros = address.includes('::') ? Array(Math.max(0, 8 - left.length - right.length)).fill('0') : [];
  return `${[...left, ...zeros, ...right].slice(0, 4).join(':')}::/64`;
}
