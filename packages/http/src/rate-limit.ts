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

/** An address may send bad credentials for this many times its budget before none that it sends is checked any more. */
const GUESSES_PER_REQUEST = 10;

/** Each throws AppError 429, and says in the answer's headers where the caller stands. */
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
     * Before a credential is looked at. An address that went on guessing far beyond its budget gets no more looks; below
     * that a good credential still gets in, since others may share the address.
     */
    requireLook(req: Request, res: Response) {
      const stands = count.look(`guesses ${addressOf(req)}`, guessesMax);
      if (stands.remaining) return;
      tell(res, guessesMax, stands);
      throw tooMany(guessesMax, stands);
    },
    /** Shows the address's budget on a request that takes from none: nobody can say who calls. */
    show: (req: Request, res: Response) => showRequests(addressOf(req), res),
    /** A bad credential takes from the budget of its address, whatever it was sent for. */
    spendOnGuess({ limit }: Operation, req: Request, res: Response) {
      count.spend(`guesses ${addressOf(req)}`, guessesMax);
      take(limit === 'none' ? 'requests' : limit, addressOf(req), res);
    },
    /** A request for no operation, such as an unknown path, takes from the budget of its address. */
    spendOnAddress: (req: Request, res: Response) => take('requests', addressOf(req), res),
    /** Per credential, or per address where there is none; sign-in always per address. */
    spend({ limit }: Operation, req: Request, res: Response) {
      if (limit === 'none') return showRequests(credentialOf(req) ?? addressOf(req), res);
      const caller = limit === 'sign-in' ? undefined : credentialOf(req);
      take(limit, caller ?? addressOf(req), res);
    },
  };
}

/** A debt from the window before can last longer than a window; no caller is told to stay away for more than one. */
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

/** Undefined without a good credential. */
export function credentialOf({ principal }: Request): string | undefined {
  return principal && (principal.tokenId ?? `user:${principal.userId}`);
}

export const addressOf = (req: Request): string => `address:${networkOf(req.ip ?? 'unknown')}`;

/** One customer has a whole /64 of IPv6 addresses. */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address.replace(/^::ffff:/, '');
  const [head = '', tail = ''] = (address.split('%')[0] as string).split('::');
  const left = head ? head.split(':') : [];
  const right = tail ? tail.split(':') : [];
  const zeros = address.includes('::') ? Array(Math.max(0, 8 - left.length - right.length)).fill('0') : [];
  return `${[...left, ...zeros, ...right].slice(0, 4).join(':')}::/64`;
}
