import { isUnreachable, UNREACHABLE_MESSAGE } from '../shell/is-unreachable';

/** Says what to do where the server could not be reached. */
export const toConnectionError = (error: Error | null): Error | null =>
  isUnreachable(error) ? new Error(UNREACHABLE_MESSAGE) : error;
