/**
 * Relays WebSockets through an intercepted tunnel. The first request gets credentials. Frames of the code are forwarded
 * unchanged; the messages of the host are searched and reframed, since a value may span several fragments.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Duplex, pipeline } from 'node:stream';
import { EgressRefusedError, FAILED, MALFORMED } from './egress-refused-error';
import { getFieldValue, listEndToEnd } from './header-fields';
import type { Exchange } from './network-request';
import { relayResponse } from './relay-response';
import type { ResponseRedaction } from './response-redaction';
import type { UpstreamResponse } from './upstream-client';
import { createMessageRedaction } from './web-socket-messages';

/** @throws Refused */
export function assertWebSocket({ method, headers }: IncomingMessage): void {
  if (method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket') return;
  throw new EgressRefusedError(400, 'only WebSocket upgrades are allowed for hosts with credentials', MALFORMED);
}

/** @throws Refused */
export async function relayWebSocket(
  upstream: UpstreamResponse,
  client: {
    response: ServerResponse;
    socket: Duplex;
    early: Buffer;
    exchange: Exchange;
    reflection: ResponseRedaction;
    spend(bytes: number): void;
  },
): Promise<void> {
  const { response, socket, early, exchange, reflection, spend } = client;
  const { socket: upstreamSocket, fields, status } = upstream;
  if (!upstreamSocket) return relayResponse(upstream, response, { reflection, exchange, consumeBytes: spend });
  exchange.status = status;
  if (
    getFieldValue(fields, 'upgrade')?.toLowerCase() !== 'websocket' ||
    getFieldValue(fields, 'sec-websocket-extensions')
  ) {
    upstreamSocket.destroy();
    throw new EgressRefusedError(502, 'its WebSocket can’t be searched for credential values', FAILED);
  }
  const lines = listEndToEnd(fields).map(({ value, as }) => `${reflection.text(as)}: ${reflection.text(value)}\r\n`);
  response.detachSocket(socket as never);
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n${lines.join('')}\r\n`,
    'latin1',
  );
  // Both pipelines listen to both sockets.
  for (const each of [socket, upstreamSocket]) each.setMaxListeners(20).on('error', () => each.destroy());
  if (early.length) socket.unshift(early);
  socket.on('data', ({ length }: Buffer) => {
    exchange.bytesSent += length;
    spend(length);
  });
  upstreamSocket.on('data', ({ length }: Buffer) => {
    exchange.bytesReceived += length;
    spend(length);
  });
  pipeline(socket, upstreamSocket, () => socket.destroy());
  pipeline(upstreamSocket, createMessageRedaction(reflection), socket, () => socket.destroy());
}
