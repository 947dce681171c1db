import type { Request, RequestHandler, Response } from 'express';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { AppError } from './errors';
import type { Operation } from './openapi-document';

export interface RateLimits {
  requestsPerMinute: number;
  runsPerMinute: number;
  signInsPerMinute: number;
}

/** The contract's defaults. */
export const DEFAULT_RATE_LIMITS: RateLimits = { requestsPerMinute: 600, runsPerMinute: 120, signInsPerMinute: 10 };

/** Per credential, or per address where there is none; sign-in always per address. Says where the caller stands. */
export function rateLimit(limits: RateLimits): (operation: Operation) => RequestHandler {
  const budget = (points: number) => new RateLimiterMemory({ points, duration: 60 });
  const budgets = {
    requests: budget(limits.requestsPerMinute),
    runs: budget(limits.runsPerMinute),
    'sign-in': budget(limits.signInsPerMinute),
  };
  return ({ limit }) =>
    async (req, res, next) => {
      if (limit === 'none') return next();
      const limiter = budgets[limit];
      try {
        announce(res, limiter.points, await limiter.consume(limit === 'sign-in' ? addressOf(req) : callerKey(req)));
      } catch (refusal) {
        if (!(refusal instanceof RateLimiterRes)) return next(refusal);
        announce(res, limiter.points, refusal);
        const retryAfterSeconds = Math.max(1, Math.ceil(refusal.msBeforeNext / 1000));
        return next(
          new AppError(
            'rate_limited',
            'rate_limited',
            `more than ${limiter.points} in a minute; try again in ${retryAfterSeconds} s`,
            {
              retryAfterSeconds,
            },
          ),
        );
      }
      next();
    };
}

function announce(res: Response, points: number, state: RateLimiterRes): void {
  res.set({
    'RateLimit-Limit': String(points),
    'RateLimit-Remaining': String(Math.max(0, state.remainingPoints)),
    'RateLimit-Reset': String(Math.ceil(state.msBeforeNext / 1000)),
  });
}

const addressOf = (req: Request): string => `address:${req.ip ?? 'unknown'}`;

function callerKey(req: Request): string {
  const { principal } = req;
  if (!principal) return addressOf(req);
  return principal.tokenId ?? `user:${principal.userId}`;
}
