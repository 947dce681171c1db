/** Sends the surface's error body for requests that Node's parser rejects, which never reach Express. */
import { type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { newId } from '@gantry/events';
import type { ErrorShape } from './error-handler';

/** More than nginx passes on (services/gateway), so that only the gateway rejects long headers. */
export const HEADER_BYTES_MAX = 96 * 1024;

const MALFORMED = {
  status: 400,
  code: 'malformed_request',
  message: 'this is not a valid HTTP request',
};
const REFUSALS: Record<string, typeof MALFORMED> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: 'header_too_large',
    message: `the request headers are longer than ${HEADER_BYTES_MAX / 1024} KB`,
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: 'request_timeout', message: 'the request did not arrive in time' },
};

export function handleMalformedRequests(server: Server, shape: ErrorShape): void {
  server.on('clientError', (err: NodeJS.ErrnoException, socket: Socket) => {
    // Node keeps the current response here; the client would read a second one as part of its body.
    const { _httpMessage: response } = socket as { _httpMessage?: ServerResponse };
    if (!socket.writable || response?.headersSent) return void socket.destroy();
    const { status, code, message } = REFUSALS[err.code ?? ''] ?? MALFORMED;
    const body = JSON.stringify({ [shape]: message, code });
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Cache-Control: no-store',
      'X-Content-Type-Options: nosniff',
      "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'",
      `X-Request-Id: ${newId('req_')}`,
      'Connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  });
}
