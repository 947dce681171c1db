import { isIPv6 } from 'node:net';
import type { Request, Response } from 'express';
import { AppError } from './errors';
import type { Operation } from './openapi-document';
import type { RateCount } from './rate-count';

export interface RateLimits {
  requestsPerMinute: number;
  runsPerMinute: number;
  signInsPerMinute: number;
}

/** The contract's defaults. */
export const DEFAULT_RATE_LIMITS: RateLimits = { requestsPerMinute: 600, runsPerMinute: 120, signInsPerMinute: 10 };

/**
 * Per credential, or per address where there is no good one; sign-in always per address. Says in the answer's headers
 * where the caller stands.
 * @throws AppError 429
 */
export type SpendRequest = (operation: Operation, req: Request, res: Response) => void;

export function rateLimit(limits: RateLimits, count: RateCount): SpendRequest {
  const limitOf = {
    requests: limits.requestsPerMinute,
    runs: limits.runsPerMinute,
    'sign-in': limits.signInsPerMinute,
  };
  return (operation, req, res) => {
    if (operation.limit === 'none') return;
    const limit = limitOf[operation.limit];
    const caller = operation.limit === 'sign-in' ? addressOf(req) : callerKey(req);
    const { allowed, remaining, waitMs } = count.spend(`${operation.limit} ${caller}`, limit);
    const waitSeconds = Math.max(1, Math.ceil(waitMs / 1000));
    res.set({
      'RateLimit-Limit': String(limit),
      'RateLimit-Remaining': String(remaining),
      'RateLimit-Reset': String(waitSeconds),
    });
    if (allowed) return;
    const detail = `more than ${limit} in a minute; try again in ${waitSeconds} s`;
    throw new AppError('rate_limited', 'rate_limited', detail, { retryAfterSeconds: waitSeconds });
  };
}

function callerKey(req: Request): string {
  const { principal } = req;
  if (!principal) return addressOf(req);
  return principal.tokenId ?? `user:${principal.userId}`;
}

const addressOf = (req: Request): string => `address:${networkOf(req.ip ?? 'unknown')}`;

/** One customer has a whole /64 of IPv6 addresses. */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address.replace(/^::ffff:/, '');
  const [head = '', tail = ''] = (address.split('%')[0] as string).split('::');
  const left = head ? head.split(':') : [];
  const right = tail ? tail.split(':') : [];
  const zeros = address.includes('::') ? Array(Math.max(0, 8 - left.length - right.length)).fill('0') : [];
  return `${[...left, ...zeros, ...right].slice(0, 4).join(':')}::/64`;
}
