import { ApiError } from '@gantry/sdk';

/** Returns whether no response arrived: the SDK throws an ApiError without a status, and `fetch` itself a TypeError. */
export const isUnreachable = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof ApiError && error.status === 0);
