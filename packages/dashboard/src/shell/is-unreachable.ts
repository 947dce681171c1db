import { ApiError } from '@gantry/sdk';

export const UNREACHABLE_MESSAGE = 'Gantry can’t be reached. Check your connection, then try again.';

/** Returns whether no response arrived: the SDK throws an ApiError without a status, and `fetch` itself a TypeError. */
export const isUnreachable = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof ApiError && error.status === 0);

/** Describes an error to the user. */
export function describeError(error: unknown): string {
  if (isUnreachable(error)) return UNREACHABLE_MESSAGE;
  return error instanceof Error ? error.message : String(error);
}
