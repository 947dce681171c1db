/** `fetch` reports a server that is not reached as a TypeError, in the words of the browser. */
export const sayError = (error: Error | null): Error | null =>
  error instanceof TypeError ? new Error('Gantry can’t be reached. Check your connection, then try again.') : error;
