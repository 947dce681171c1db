import http from 'node:http';
import type { FuzzedRequest } from './fuzzed-request';

export interface FuzzResponse {
  status: number;
  headers: http.IncomingHttpHeaders;
  /** For a live stream, only the part that came at once. */
  body: Buffer;
  isStream: boolean;
}

const RESPONSE_TIMEOUT_MS = 60_000;
const STREAM_MS = 100;
const BODY_BYTES_MAX = 16 << 20;

const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });

/** @throws Error when there is no whole answer in 20 s, or the connection is cut */
export function sendFuzzedRequest(base: string, request: FuzzedRequest): Promise<FuzzResponse> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const { method, target: path, body } = request;
    const headers = { ...request.headers, ...(body && { 'Content-Length': String(body.length) }) };
    const sent = http.request({ hostname, port, method, path, headers, agent });
    const late = setTimeout(
      () => sent.destroy(new Error(`no answer in ${RESPONSE_TIMEOUT_MS / 1_000} s`)),
      RESPONSE_TIMEOUT_MS,
    );
    const settle = (settled: () => void) => {
      clearTimeout(late);
      settled();
    };
    sent.on('error', (err: NodeJS.ErrnoException) => {
      // The server may close a connection that was idle while a request is on its way: RFC 9112, 9.3.1.
      const again = sent.reusedSocket && err.code === 'ECONNRESET';
      settle(() => (again ? resolve(sendFuzzedRequest(base, request)) : reject(err)));
    });
    sent.on('response', (res) => {
      const chunks: Buffer[] = [];
      const isStream = /^(text\/event-stream|application\/x-ndjson)/.test(res.headers['content-type'] ?? '');
      const resolveResponse = () =>
        settle(() =>
          resolve({ status: res.statusCode ?? 0, headers: res.headers, body: Buffer.concat(chunks), isStream }),
        );
      let bytes = 0;
      res.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes < BODY_BYTES_MAX) chunks.push(chunk);
      });
      res.on('error', (err) => settle(() => reject(err)));
      res.on('end', resolveResponse);
      if (isStream) {
        setTimeout(() => {
          resolveResponse();
          sent.destroy();
        }, STREAM_MS);
      }
    });
    sent.end(body);
  });
}
