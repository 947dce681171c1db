import { isUnreachable } from '../shell/is-unreachable';

/** Says what to do where the server could not be reached. */
export const toConnectionError = (error: Error | null): Error | null =>
  isUnreachable(error) ? new Error('Gantry can’t be reached. Check your connection, then try again.') : error;
