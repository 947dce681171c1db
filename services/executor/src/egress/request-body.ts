/** Reads bodies of requests inside an intercepted tunnel. */
import type { IncomingMessage } from 'node:http';
import { type Readable, Transform } from 'node:stream';

/** Bodies up to this size are searched for placeholders; larger ones are forwarded unchanged. */
export const SEARCHED_BODY_BYTES_MAX = 1 << 20;

export const announcesBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Returns whether placeholders in its body can be found. */
export function isSearchable(request: IncomingMessage): boolean {
  const encoding = request.headers['content-encoding'];
  return (encoding === undefined || encoding === 'identity') && announcesBody(request);
}

/**
 * Creates a separate stream: the client destroys it on an early response, which the connection of the run must survive.
 * @param start was read already
 */
export function bodyStream(
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
export function collectBody(request: IncomingMessage): Promise<{ bytes: Buffer; complete: boolean }> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let length = 0;
    const done = (complete: boolean) => {
      request.off('data', take).off('end', ended).off('error', reject);
      if (!complete) request.pause();
      resolve({ bytes: Buffer.concat(parts), complete });
    };
    const ended = () => done(true);
    const take = (part: Buffer) => {
      parts.push(part);
      length += part.length;
      if (length > SEARCHED_BODY_BYTES_MAX) done(false);
    };
    request.on('data', take).once('end', ended).once('error', reject);
  });
}

const READ_OUT_MAX = { bytes: 1 << 20, ms: 2_000 };

/**
 * Reads a request to its end before the response: an earlier one is lost with the connection that it closes while the
 * client still sends. Limited in time and bytes.
 */
export function readOut(request: IncomingMessage): Promise<void> {
  if (request.readableEnded || request.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    let left = READ_OUT_MAX.bytes;
    const timer = setTimeout(resolve, READ_OUT_MAX.ms);
    const over = () => {
      clearTimeout(timer);
      resolve();
    };
    request.on('data', ({ length }: Buffer) => {
      left -= length;
      if (left < 0) over();
    });
    request.once('end', over).once('close', over);
  });
}
