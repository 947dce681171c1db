/** Replaces the TypeError with which `fetch` reports an unreachable server, and whose text depends on the browser. */
export const toConnectionError = (error: Error | null): Error | null =>
  error instanceof TypeError ? new Error('Gantry can’t be reached. Check your connection, then try again.') : error;
