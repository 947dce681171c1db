/** Relays responses inside an intercepted tunnel: without the values of credentials, and otherwise unchanged. */
import type { ServerResponse } from 'node:http';
import { PassThrough, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import zlib from 'node:zlib';
import { buildRefusalHeaders, EgressRefusedError, FAILED, toRefusal } from './egress-refused-error';
import { type Field, getFieldValue, listEndToEnd } from './header-fields';
import type { Exchange } from './network-request';
import { createCapture } from './response-capture';
import type { ResponseRedaction } from './response-redaction';
import type { UpstreamResponse } from './upstream-client';

/** Buffered up to this size, so that a value can be replaced by its placeholder and the length be corrected. */
const COLLECTED_BYTES_MAX = 256 * 1024;

const DECODERS: Record<string, () => Transform> = {
  gzip: zlib.createGunzip,
  'x-gzip': zlib.createGunzip,
  deflate: zlib.createInflate,
  br: zlib.createBrotliDecompress,
};

interface RelayContext {
  reflection: ResponseRedaction;
  exchange: Exchange;
  consumeBytes(bytes: number): void;
}

/** @throws Refused before anything was sent, any error after that */
export async function relayResponse(
  upstream: UpstreamResponse,
  response: ServerResponse,
  context: RelayContext,
): Promise<void> {
  try {
    await relayParts(upstream, response, context);
  } catch (err) {
    // The rest of it must not hold up the next request.
    upstream.body.destroy();
    throw err;
  }
}

async function relayParts(
  upstream: UpstreamResponse,
  response: ServerResponse,
  { reflection, exchange, consumeBytes }: RelayContext,
): Promise<void> {
  const { status, fields } = upstream;
  exchange.status = status;
  assertPlainChunks(fields);
  response.sendDate = false;
  const hasBody = response.req.method !== 'HEAD' && status !== 204 && status !== 304;
  const decoder = hasBody ? createDecoder(getFieldValue(fields, 'content-encoding')) : null;
  const length = decoder || !hasBody ? undefined : findContentLength(fields);
  const collect =
    length !== undefined && length <= COLLECTED_BYTES_MAX && getFieldValue(fields, 'content-range') === undefined;
  const headers: string[] = [];
  for (const { name, value, as } of listEndToEnd(fields)) {
    if (decoder && (name === 'content-encoding' || name === 'content-length')) continue;
    if (collect && name === 'content-length') continue;
    headers.push(reflection.text(as), reflection.text(value));
  }
  const writeHead = (more: string[] = []) =>
    response.writeHead(status, reflection.text(upstream.statusText), [...headers, ...more]);

  const type = getFieldValue(fields, 'content-type');
  const location = getFieldValue(fields, 'location');
  const capture = createCapture(exchange, {
    contentType: type === undefined ? null : reflection.text(type),
    ...(location !== undefined && { location: reflection.text(location) }),
  });
  upstream.body.once('error', () => exchange.end(new EgressRefusedError(502, 'it ended its response early', FAILED)));
  if (!hasBody) {
    upstream.body.resume();
    capture?.end();
    writeHead();
    response.end();
    return;
  }
  const meter = new Transform({
    transform(chunk: Buffer, _, done) {
      exchange.bytesReceived += chunk.length;
      consumeBytes(chunk.length);
      done(null, chunk);
    },
  });
  if (collect) {
    const parts: Buffer[] = [];
    await pipeline(upstream.body, meter, async (source: AsyncIterable<Buffer>) => {
      for await (const part of source) parts.push(part);
    });
    const body = reflection.bytes(Buffer.concat(parts));
    capture?.push(body);
    capture?.end();
    writeHead(['Content-Length', String(body.length)]);
    response.end(body);
    return;
  }
  writeHead();
  const redacted = reflection.stream(length !== undefined);
  if (capture) redacted.on('data', (piece: Buffer) => capture.push(piece)).once('end', () => capture.end());
  await pipeline(upstream.body, decoder ?? new PassThrough(), meter, redacted, response);
}

function createDecoder(encoding: string | undefined): Transform | null {
  if (encoding === undefined || encoding === '' || encoding.toLowerCase() === 'identity') return null;
  const createStream = DECODERS[encoding.toLowerCase()];
  if (createStream) return createStream();
  throw new EgressRefusedError(
    502,
    'its response uses an encoding that can’t be searched for credential values',
    FAILED,
  );
}

/** Rejects bodies with compressed chunks, which cannot be searched. @throws Refused */
function assertPlainChunks(fields: Field[]): void {
  const coding = getFieldValue(fields, 'transfer-encoding');
  if (coding === undefined || coding.toLowerCase() === 'chunked') return;
  throw new EgressRefusedError(
    502,
    'its response uses a transfer encoding that can’t be searched for credential values',
    FAILED,
  );
}

function findContentLength(fields: Field[]): number | undefined {
  const text = getFieldValue(fields, 'content-length');
  return text === undefined ? undefined : Number(text);
}

/** Sends the proxy's own response. */
export function sendRefusal(response: ServerResponse, host: string, err: unknown): EgressRefusedError {
  const refusal = toRefusal(err);
  if (response.headersSent) {
    response.destroy();
    return refusal;
  }
  const body = `${host}: ${refusal.message}\n`;
  const { status, reason } = refusal;
  response.writeHead(status, reason, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
    ...buildRefusalHeaders(refusal),
  });
  response.end(body);
  return refusal;
}
