/** Relays responses inside an intercepted tunnel: without the values of credentials, and otherwise unchanged. */
import type { ServerResponse } from 'node:http';
import { PassThrough, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import zlib from 'node:zlib';
import { type Field, fieldValue, listEndToEnd } from './header-fields';
import { captureOf } from './kept-answer';
import type { Exchange } from './network-request';
import type { OnwardResponse } from './onward-client';
import type { Reflection } from './reflection';
import { FAILED, headersOf, Refused, refusalOf } from './refused';

/** Buffered up to this size, so that a value can be replaced by its placeholder and the length be corrected. */
const COLLECTED_BYTES_MAX = 256 * 1024;

const DECODERS: Record<string, () => Transform> = {
  gzip: zlib.createGunzip,
  'x-gzip': zlib.createGunzip,
  deflate: zlib.createInflate,
  br: zlib.createBrotliDecompress,
};

interface AnswerContext {
  reflection: Reflection;
  exchange: Exchange;
  spend(bytes: number): void;
}

/** @throws Refused before anything was sent, any error after that */
export async function relayAnswer(
  answer: OnwardResponse,
  response: ServerResponse,
  context: AnswerContext,
): Promise<void> {
  try {
    await relay(answer, response, context);
  } catch (err) {
    // The rest of it must not hold up the next request.
    answer.body.destroy();
    throw err;
  }
}

async function relay(
  answer: OnwardResponse,
  response: ServerResponse,
  { reflection, exchange, spend }: AnswerContext,
): Promise<void> {
  const { status, fields } = answer;
  exchange.status = status;
  requireChunksAlone(fields);
  response.sendDate = false;
  const hasBody = response.req.method !== 'HEAD' && status !== 204 && status !== 304;
  const decoder = hasBody ? decoderFor(fieldValue(fields, 'content-encoding')) : null;
  const length = decoder || !hasBody ? undefined : findContentLength(fields);
  const collect =
    length !== undefined && length <= COLLECTED_BYTES_MAX && fieldValue(fields, 'content-range') === undefined;
  const headers: string[] = [];
  for (const { name, value, as } of listEndToEnd(fields)) {
    if (decoder && (name === 'content-encoding' || name === 'content-length')) continue;
    if (collect && name === 'content-length') continue;
    headers.push(reflection.text(as), reflection.text(value));
  }
  const head = (more: string[] = []) =>
    response.writeHead(status, reflection.text(answer.statusText), [...headers, ...more]);

  const type = fieldValue(fields, 'content-type');
  const location = fieldValue(fields, 'location');
  const keep = captureOf(exchange, {
    contentType: type === undefined ? null : reflection.text(type),
    ...(location !== undefined && { location: reflection.text(location) }),
  });
  answer.body.once('error', () => exchange.end(new Refused(502, 'it ended its answer early', FAILED)));
  if (!hasBody) {
    answer.body.resume();
    keep?.end();
    head();
    response.end();
    return;
  }
  const meter = new Transform({
    transform(chunk: Buffer, _, done) {
      exchange.bytesReceived += chunk.length;
      spend(chunk.length);
      done(null, chunk);
    },
  });
  if (collect) {
    const parts: Buffer[] = [];
    await pipeline(answer.body, meter, async (source: AsyncIterable<Buffer>) => {
      for await (const part of source) parts.push(part);
    });
    const body = reflection.bytes(Buffer.concat(parts));
    keep?.push(body);
    keep?.end();
    head(['Content-Length', String(body.length)]);
    response.end(body);
    return;
  }
  head();
  const shown = reflection.stream(length !== undefined);
  if (keep) shown.on('data', (piece: Buffer) => keep.push(piece)).once('end', () => keep.end());
  await pipeline(answer.body, decoder ?? new PassThrough(), meter, shown, response);
}

function decoderFor(encoding: string | undefined): Transform | null {
  if (encoding === undefined || encoding === '' || encoding.toLowerCase() === 'identity') return null;
  const make = DECODERS[encoding.toLowerCase()];
  if (make) return make();
  throw new Refused(502, 'its answer has an encoding that can’t be searched for the value of a credential', FAILED);
}

/** Rejects bodies with compressed chunks, which cannot be searched. @throws Refused */
function requireChunksAlone(fields: Field[]): void {
  const coding = fieldValue(fields, 'transfer-encoding');
  if (coding === undefined || coding.toLowerCase() === 'chunked') return;
  throw new Refused(
    502,
    'its answer has a transfer encoding that can’t be searched for the value of a credential',
    FAILED,
  );
}

function findContentLength(fields: Field[]): number | undefined {
  const text = fieldValue(fields, 'content-length');
  return text === undefined ? undefined : Number(text);
}

/** Sends the proxy's own response. */
export function answerRefused(response: ServerResponse, host: string, err: unknown): Refused {
  const refusal = refusalOf(err);
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
    ...headersOf(refusal),
  });
  response.end(body);
  return refusal;
}
