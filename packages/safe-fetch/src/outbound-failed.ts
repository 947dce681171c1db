export type OutboundFailure = 'bad_url' | 'refused_address' | 'dns' | 'connect' | 'tls' | 'timeout' | 'too_large';

/**
 * No answer, or none that we would go and get. `code` is stable. `message` may be shown to whoever set the URL: it names
 * the host and port they gave, and never an address that the host led to. `cause` may name it and is only for the log.
 */
export class OutboundFailed extends Error {
  constructor(
    readonly code: OutboundFailure,
    message: string,
    cause?: unknown,
  ) {
    super(message, { cause });
    this.name = 'OutboundFailed';
  }
}
