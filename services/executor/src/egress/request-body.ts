/** Reads bodies of requests inside an intercepted tunnel. */
import type { IncomingMessage } from 'node:http';
import { type Readable, Transform } from 'node:stream';

/** Bodies up to this size are searched for placeholders; larger ones are forwarded unchanged. */
export const SEARCHED_BODY_BYTES_MAX = 1 << 20;

export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Returns whether placeholders in its body can be found. */
export function isSearchable(request: IncomingMessage): boolean {
  const encoding = request.headers['content-encoding'];
  return (encoding === undefined || encoding === 'identity') && hasBody(request);
}

/**
 * Creates a separate stream: the client destroys it on an early response, which the connection of the run must survive.
 * @param start was read already
 */
export function createBodyStream(
  request: IncomingMessage,
  start: Buffer,
  onBytes: (count: number) => void,
): { stream: Readable; length: number | undefined } {
  const length = request.headers['content-length'];
  const stream = new Transform({
    transform(chunk: Buffer, _, done) {
      onBytes(chunk.length);
      done(null, chunk);
    },
  });
  stream.on('error', () => {});
  if (start.length) stream.write(start);
  request.once('error', (err) => stream.destroy(err));
  request.once('close', () => {
    if (!request.complete) stream.destroy();
  });
  request.pipe(stream);
  return { stream, length: length === undefined ? undefined : Number(length) };
}

/** Reads the part of a body that is searched. The rest stays in the request, paused. */
export function readSearchableBody(request: IncomingMessage): Promise<{ bytes: Buffer; complete: boolean }> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let length = 0;
    const finish = (complete: boolean) => {
      request.off('data', handleChunk).off('end', handleEnd).off('error', reject);
      if (!complete) request.pause();
      resolve({ bytes: Buffer.concat(parts), complete });
    };
    const handleEnd = () => finish(true);
    const handleChunk = (part: Buffer) => {
      parts.push(part);
      length += part.length;
      if (length > SEARCHED_BODY_BYTES_MAX) finish(false);
    };
    request.on('data', handleChunk).once('end', handleEnd).once('error', reject);
  });
}

const DRAIN_MAX = { bytes: 1 << 20, ms: 2_000 };

/**
 * Reads a request to its end before the response: an earlier one is lost with the connection that it closes while the
 * client still sends. Limited in time and bytes.
 */
export function drainRequest(request: IncomingMessage): Promise<void> {
  if (request.readableEnded || request.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    let left = DRAIN_MAX.bytes;
    const timer = setTimeout(resolve, DRAIN_MAX.ms);
    const finish = () => {
      clearTimeout(timer);
      resolve();
    };
    request.on('data', ({ length }: Buffer) => {
      left -= length;
      if (left < 0) finish();
    });
    request.once('end', finish).once('close', finish);
    // Paused if a part of it was read already.
    request.resume();
  });
}
