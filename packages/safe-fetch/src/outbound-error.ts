export type OutboundFailure = 'bad_url' | 'refused_address' | 'dns' | 'connect' | 'tls' | 'timeout' | 'too_large';

/**
 * No response, or a destination that may not be reached. `code` is stable. `message` may be shown to the person who set
 * the URL: it names the host and port they gave, and never an address that the host resolved to. `cause` may name it
 * and is only for the log.
 */
export class OutboundError extends Error {
  constructor(
    readonly code: OutboundFailure,
    message: string,
    cause?: unknown,
  ) {
    super(message, { cause });
    this.name = 'OutboundError';
  }
}
