/** A request that goes no further, and the answer to it. */
export class Refused extends Error {
  constructor(
    readonly status: 400 | 403 | 413 | 421 | 429 | 502 | 504,
    /** One clause about the destination, for the code and for the run's log; never part of a request. */
    message: string,
    /** One of few constants: a label of a metric, and the reason phrase of the answer, which is all that some clients show. */
    readonly reason: string,
  ) {
    super(message);
  }
}

/** Anything else than a Refused is an error of the network. */
export const refusalOf = (err: unknown): Refused =>
  err instanceof Refused ? err : new Refused(502, `it can't be reached (${codeOf(err)})`, FAILED);

/** Stable, and free of what the other side has chosen. */
export const codeOf = (err: unknown): string => {
  const { code } = err as { code?: unknown };
  return typeof code === 'string' && /^[A-Z0-9_]{1,60}$/.test(code) ? code : 'error';
};

export const FAILED = 'failed';
export const MALFORMED = 'malformed';
export const LIMIT = 'limit';
/** A credential stands where it is not declared to go. */
export const NOT_DECLARED = 'not declared';
/** Of a rehearsal: it may write, and the record has no answer. */
export const NOT_RECORDED = 'not recorded';

/** Says to code, and to whoever reads its log, which answers are those of a rehearsal. */
export const REHEARSAL_HEADER = 'gantry-rehearsal';
export const headersOf = ({ reason }: Refused): Record<string, string> =>
  reason === NOT_RECORDED ? { [REHEARSAL_HEADER]: 'refused' } : {};
