import { isIPv6 } from 'node:net';
import type { Request, Response } from 'express';
import { AppError } from './errors';
import type { Operation } from './openapi-document';
import { type RateCount, type Spent, WINDOW_MS } from './rate-count';

export interface RateLimits {
  requestsPerMinute: number;
  runsPerMinute: number;
  signInsPerMinute: number;
}

/** The contract's defaults. */
export const DEFAULT_RATE_LIMITS: RateLimits = { requestsPerMinute: 600, runsPerMinute: 120, signInsPerMinute: 10 };

/**
 * Bad credentials that an address may send, as a multiple of its budget, before its credentials are no longer checked.
 */
const GUESSES_PER_REQUEST = 10;

/** Each method throws AppError 429, and sets rate limit headers. */
export type Budgets = ReturnType<typeof budgets>;

export function budgets(limits: RateLimits, count: RateCount) {
  const limitOf = {
    requests: limits.requestsPerMinute,
    runs: limits.runsPerMinute,
    'sign-in': limits.signInsPerMinute,
  };
  const guessesMax = limits.requestsPerMinute * GUESSES_PER_REQUEST;

  function take(kind: keyof typeof limitOf, caller: string, res: Response) {
    const limit = limitOf[kind];
    const spent = count.spend(`${kind} ${caller}`, limit);
    tell(res, limit, spent);
    if (!spent.allowed) throw tooMany(limit, spent);
  }

  const showRequests = (caller: string, res: Response) =>
    tell(res, limitOf.requests, count.look(`requests ${caller}`, limitOf.requests));

  return {
    /**
     * Called before a credential is checked. Credentials of an address far beyond its budget are no longer checked;
     * below that a valid credential is accepted, since others may share the address.
     */
    requireLook(req: Request, res: Response) {
      const stands = count.look(`guesses ${addressOf(req)}`, guessesMax);
      if (stands.remaining) return;
      tell(res, guessesMax, stands);
      throw tooMany(guessesMax, stands);
    },
    /** Sets the headers of the address' budget, without spending, if the caller cannot be identified. */
    show: (req: Request, res: Response) => showRequests(addressOf(req), res),
    /** Charges a bad credential to the budget of its address, for any operation. */
    spendOnGuess({ limit }: Operation, req: Request, res: Response) {
      count.spend(`guesses ${addressOf(req)}`, guessesMax);
      take(limit === 'none' ? 'requests' : limit, addressOf(req), res);
    },
    /** Charges a request without an operation, such as an unknown path, to the budget of its address. */
    spendOnAddress: (req: Request, res: Response) => take('requests', addressOf(req), res),
    /** Charges the credential, or the address without one; sign-in always the address. */
    spend({ limit }: Operation, req: Request, res: Response) {
      if (limit === 'none') return showRequests(credentialOf(req) ?? addressOf(req), res);
      const caller = limit === 'sign-in' ? undefined : credentialOf(req);
      take(limit, caller ?? addressOf(req), res);
    },
  };
}

/** Returns at most one window, although a debt from the previous window can last longer. */
export const retryAfterSecondsOf = ({ waitMs }: Spent): number =>
  Math.max(1, Math.ceil(Math.min(waitMs, WINDOW_MS) / 1000));

function tell(res: Response, limit: number, stands: Spent): void {
  res.set({
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': String(stands.remaining),
    'RateLimit-Reset': String(retryAfterSecondsOf(stands)),
  });
}

function tooMany(limit: number, stands: Spent): AppError {
  const waitSeconds = retryAfterSecondsOf(stands);
  const detail = `more than ${limit} in a minute; try again in ${waitSeconds} s`;
  return new AppError('rate_limited', 'rate_limited', detail, { retryAfterSeconds: waitSeconds });
}

/** Returns undefined without a valid credential. */
export function credentialOf({ principal }: Request): string | undefined {
  return principal && (principal.tokenId ?? `user:${principal.userId}`);
}

export const addressOf = (req: Request): string => `address:${networkOf(req.ip ?? 'unknown')}`;

/** Maps an IPv6 address to its /64, which one customer usually has. */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address.replace(/^::ffff:/, '');
  const [head = '', tail = ''] = (address.split('%')[0] as string).split('::');
  const left = head ? head.split(':') : [];
  const right = tail ? tail.split(':') : [];
  const zeros = address.includes('::') ? Array(Math.max(0, 8 - left.length - right.length)).fill('0') : [];
  return `${[...left, ...zeros, ...right].slice(0, 4).join(':')}::/64`;
}
