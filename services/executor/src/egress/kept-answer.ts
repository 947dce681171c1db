/** Captures responses to writing requests while they are relayed: whole and decoded, or not at all. */
import type net from 'node:net';
import zlib from 'node:zlib';
import type { Exchange, RawAnswer } from './network-request';

/** The protocol's limit. */
const ANSWER_BYTES_MAX = 16 * 1024;

export type KeptHead = Pick<RawAnswer, 'contentType' | 'location'>;

/** Captures a relayed body; null if the response is not to be recorded. */
export function captureOf(exchange: Exchange, head: KeptHead): { push(piece: Buffer): void; end(): void } | null {
  if (exchange.keptAs === null) return null;
  const pieces: Buffer[] = [];
  let length = 0;
  return {
    push(piece) {
      length += piece.length;
      if (length <= ANSWER_BYTES_MAX) pieces.push(piece);
      else pieces.length = 0;
    },
    end() {
      if (length <= ANSWER_BYTES_MAX) exchange.answer = () => ({ ...head, body: Buffer.concat(pieces) });
    },
  };
}

/** Limit of a raw response: its head, and a body in chunks. */
const RAW_BYTES_MAX = 3 * ANSWER_BYTES_MAX;

/** Captures a plain response, which is relayed unchanged and parsed once it is complete. */
export function capturePlain(target: net.Socket, exchange: Exchange): void {
  const pieces: Buffer[] = [];
  let length = 0;
  let isOver = false;
  target.once('end', () => {
    isOver = true;
  });
  target.on('data', (piece: Buffer) => {
    length += piece.length;
    if (length <= RAW_BYTES_MAX) pieces.push(piece);
    else pieces.length = 0;
  });
  exchange.answer = () => {
    const answer = length <= RAW_BYTES_MAX ? readPlainAnswer(Buffer.concat(pieces), isOver) : null;
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
export function readPlainAnswer(raw: Buffer, isOver: boolean): (KeptHead & { status: number; body: Buffer }) | null {
  const end = raw.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const [start = '', ...lines] = raw.toString('latin1', 0, end).split('\r\n');
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(start)?.[1]);
  if (!status) return null;
  const rest = raw.subarray(end + 4);
  if (status < 200) return readPlainAnswer(rest, isOver);
  const headers = new Map(lines.map((line) => [line.split(':', 1)[0]?.toLowerCase(), textAfter(line)]));
  const sent = status === 204 || status === 304 ? Buffer.alloc(0) : bodyIn(rest, headers, isOver);
  const body = sent && decoded(sent, headers.get('content-encoding'));
  if (!body || body.length > ANSWER_BYTES_MAX) return null;
  const location = headers.get('location');
  return {
    status,
    contentType: headers.get('content-type') ?? null,
    ...(location !== undefined && { location }),
    body,
  };
}

const textAfter = (line: string): string => line.slice(line.indexOf(':') + 1).trim();

function bodyIn(rest: Buffer, headers: Map<string | undefined, string>, isOver: boolean): Buffer | null {
  if (headers.get('transfer-encoding')?.toLowerCase() === 'chunked') return joinChunks(rest);
  const length = headers.get('content-length');
  if (length === undefined) return isOver ? rest : null;
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

function decoded(body: Buffer, encoding = 'identity'): Buffer | null {
  if (encoding === 'identity') return body;
  try {
    return DECODE[encoding.toLowerCase()]?.(body, { maxOutputLength: ANSWER_BYTES_MAX }) ?? null;
  } catch {
    return null;
  }
}
