/**
 * Relays WebSockets through an intercepted tunnel. The first request gets credentials. Frames of the code are forwarded
 * unchanged; the messages of the host are searched and reframed, since a value may span several fragments.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Duplex, pipeline } from 'node:stream';
import { relayAnswer } from './answers';
import { fieldValue, listEndToEnd } from './header-fields';
import type { Exchange } from './network-request';
import type { OnwardResponse } from './onward-client';
import type { Reflection } from './reflection';
import { FAILED, MALFORMED, Refused } from './refused';
import { searchMessages } from './web-socket-messages';

/** @throws Refused */
export function requireWebSocket({ method, headers }: IncomingMessage): void {
  if (method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket') return;
  throw new Refused(400, 'only WebSocket upgrades are allowed to hosts of credentials', MALFORMED);
}

/** @throws Refused */
export async function relayWebSocket(
  answer: OnwardResponse,
  client: {
    response: ServerResponse;
    socket: Duplex;
    early: Buffer;
    exchange: Exchange;
    reflection: Reflection;
    spend(bytes: number): void;
  },
): Promise<void> {
  const { response, socket, early, exchange, reflection, spend } = client;
  const { socket: there, fields, status } = answer;
  if (!there) return relayAnswer(answer, response, { reflection, exchange, spend });
  exchange.status = status;
  if (fieldValue(fields, 'upgrade')?.toLowerCase() !== 'websocket' || fieldValue(fields, 'sec-websocket-extensions')) {
    there.destroy();
    throw new Refused(502, 'it speaks a WebSocket that can’t be searched for the value of a credential', FAILED);
  }
  const lines = listEndToEnd(fields).map(({ value, as }) => `${reflection.text(as)}: ${reflection.text(value)}\r\n`);
  response.detachSocket(socket as never);
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n${lines.join('')}\r\n`,
    'latin1',
  );
  // Both pipelines listen to both sockets.
  for (const each of [socket, there]) each.setMaxListeners(20).on('error', () => each.destroy());
  if (early.length) socket.unshift(early);
  socket.on('data', ({ length }: Buffer) => {
    exchange.bytesSent += length;
    spend(length);
  });
  there.on('data', ({ length }: Buffer) => {
    exchange.bytesReceived += length;
    spend(length);
  });
  pipeline(socket, there, () => socket.destroy());
  pipeline(there, searchMessages(reflection), socket, () => socket.destroy());
}
