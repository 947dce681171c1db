/** Captures responses to writing requests while they are relayed: whole and decoded, or not at all. */
import type net from 'node:net';
import zlib from 'node:zlib';
import type { Exchange, RawResponse } from './network-request';

/** The protocol's limit. */
const RESPONSE_BYTES_MAX = 16 * 1024;

export type CapturedHead = Pick<RawResponse, 'contentType' | 'location'>;

/** Captures a relayed body; null if the response is not to be recorded. */
export function createCapture(
  exchange: Exchange,
  head: CapturedHead,
): { push(piece: Buffer): void; end(): void } | null {
  if (exchange.keptAs === null) return null;
  const pieces: Buffer[] = [];
  let length = 0;
  return {
    push(piece) {
      length += piece.length;
      if (length <= RESPONSE_BYTES_MAX) pieces.push(piece);
      else pieces.length = 0;
    },
    end() {
      if (length <= RESPONSE_BYTES_MAX) exchange.answer = () => ({ ...head, body: Buffer.concat(pieces) });
    },
  };
}

/** Limit of a raw response: its head, and a body in chunks. */
const RAW_BYTES_MAX = 3 * RESPONSE_BYTES_MAX;

/** Captures a plain response, which is relayed unchanged and parsed once it is complete. */
export function capturePlainResponse(target: net.Socket, exchange: Exchange): void {
  const pieces: Buffer[] = [];
  let length = 0;
  let hasEnded = false;
  target.once('end', () => {
    hasEnded = true;
  });
  target.on('data', (piece: Buffer) => {
    length += piece.length;
    if (length <= RAW_BYTES_MAX) pieces.push(piece);
    else pieces.length = 0;
  });
  exchange.answer = () => {
    const answer = length <= RAW_BYTES_MAX ? parsePlainResponse(Buffer.concat(pieces), hasEnded) : null;
    if (!answer) return null;
    const { status, ...kept } = answer;
    exchange.status = status;
    return kept;
  };
}

/**
 * Parses the response in the bytes of one connection.
 * @param hasEnded the host has ended the connection, which is where a body without a length ends
 * @returns null where it is incomplete, too long, or not understood
 */
export function parsePlainResponse(
  raw: Buffer,
  hasEnded: boolean,
): (CapturedHead & { status: number; body: Buffer }) | null {
  const end = raw.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const [start = '', ...lines] = raw.toString('latin1', 0, end).split('\r\n');
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(start)?.[1]);
  if (!status) return null;
  const rest = raw.subarray(end + 4);
  if (status < 200) return parsePlainResponse(rest, hasEnded);
  const headers = new Map(lines.map((line) => [line.split(':', 1)[0]?.toLowerCase(), parseFieldValue(line)]));
  const encodedBody = status === 204 || status === 304 ? Buffer.alloc(0) : extractBody(rest, headers, hasEnded);
  const body = encodedBody && decodeBody(encodedBody, headers.get('content-encoding'));
  if (!body || body.length > RESPONSE_BYTES_MAX) return null;
  const location = headers.get('location');
  return {
    status,
    contentType: headers.get('content-type') ?? null,
    ...(location !== undefined && { location }),
    body,
  };
}

const parseFieldValue = (line: string): string => line.slice(line.indexOf(':') + 1).trim();

function extractBody(rest: Buffer, headers: Map<string | undefined, string>, hasEnded: boolean): Buffer | null {
  if (headers.get('transfer-encoding')?.toLowerCase() === 'chunked') return joinChunks(rest);
  const length = headers.get('content-length');
  if (length === undefined) return hasEnded ? rest : null;
  return rest.length >= Number(length) ? rest.subarray(0, Number(length)) : null;
}

function joinChunks(rest: Buffer): Buffer | null {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    // Bounded: each search begins behind the chunk before, and there are RAW_BYTES_MAX.
    const line = rest.indexOf('\r\n', at);
    if (line < 0) return null;
    const size = Number.parseInt(rest.toString('latin1', at, Math.min(line, at + 16)), 16);
    if (!(size >= 0) || line + 2 + size > rest.length) return null;
    if (size === 0) return Buffer.concat(chunks);
    chunks.push(rest.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}

const DECODE: Record<string, (body: Buffer, options: { maxOutputLength: number }) => Buffer> = {
  gzip: zlib.gunzipSync,
  deflate: zlib.inflateSync,
  br: zlib.brotliDecompressSync,
};

function decodeBody(body: Buffer, encoding = 'identity'): Buffer | null {
  if (encoding === 'identity') return body;
  try {
    return DECODE[encoding.toLowerCase()]?.(body, { maxOutputLength: RESPONSE_BYTES_MAX }) ?? null;
  } catch {
    return null;
  }
}
