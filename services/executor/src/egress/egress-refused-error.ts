/** A request that is not forwarded, and the response to it. */
export class EgressRefusedError extends Error {
  constructor(
    readonly status: 400 | 403 | 413 | 421 | 429 | 502 | 504,
    /** One clause about the destination, for the code and for the run's log; never part of a request. */
    message: string,
    /**
     * One of few constants: a label of a metric, and the reason phrase of the response, which is all that some clients
     * show.
     */
    readonly reason: string,
  ) {
    super(message);
  }
}

/** Converts any other error to a refusal for a network error. */
export const toRefusal = (err: unknown): EgressRefusedError =>
  err instanceof EgressRefusedError
    ? err
    : new EgressRefusedError(502, `it can't be reached (${getErrorCode(err)})`, FAILED);

/** Returns a stable code without any text chosen by the peer. */
export const getErrorCode = (err: unknown): string => {
  const { code } = err as { code?: unknown };
  return typeof code === 'string' && /^[A-Z0-9_]{1,60}$/.test(code) ? code : 'error';
};

export const FAILED = 'failed';
export const MALFORMED = 'malformed';
export const LIMIT = 'limit';
/** A credential is in a place that it does not declare. */
export const NOT_DECLARED = 'not declared';
/** In a rehearsal: the request may write, and no response is recorded. */
export const NOT_RECORDED = 'not recorded';

/** Marks responses of a rehearsal, for code and for readers of its log. */
export const REHEARSAL_HEADER = 'gantry-rehearsal';
export const buildRefusalHeaders = ({ reason }: EgressRefusedError): Record<string, string> =>
  reason === NOT_RECORDED ? { [REHEARSAL_HEADER]: 'refused' } : {};
