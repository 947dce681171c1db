/** WebSockets through an opened tunnel: their first request gets credentials, their frames pass as they are. */
import http, { type IncomingMessage, type RequestOptions, type ServerResponse } from 'node:http';
import { type Duplex, pipeline } from 'node:stream';
import { relayAnswer } from './answers';
import type { Exchange } from './network-request';
import { httpFailure } from './onward';
import { endToEnd } from './opened-request';
import type { Reflection } from './reflection';
import { MALFORMED, Refused } from './refused';

/** @throws Refused */
export async function relayWebSocket(
  options: RequestOptions & { headers: string[] },
  client: {
    request: IncomingMessage;
    response: ServerResponse;
    socket: Duplex;
    early: Buffer;
    exchange: Exchange;
    reflection: Reflection;
    spend(bytes: number): void;
  },
): Promise<void> {
  const { request, response, socket, early, exchange, reflection, spend } = client;
  if (request.headers.upgrade?.toLowerCase() !== 'websocket') {
    throw new Refused(400, 'only WebSocket upgrades pass where a credential is put in', MALFORMED);
  }
  const onward = http.request({
    ...options,
    headers: [...options.headers, 'Connection', 'Upgrade', 'Upgrade', 'websocket'],
  });
  socket.once('close', () => onward.destroy());
  const outcome = await new Promise<{ answer: IncomingMessage; there?: Duplex; first?: Buffer }>((resolve, reject) => {
    onward.once('upgrade', (answer, there, first) => resolve({ answer, there, first }));
    onward.once('response', (answer) => resolve({ answer }));
    onward.on('error', (err) => reject(httpFailure(err)));
    onward.end();
  });
  const { answer, there, first } = outcome;
  if (!there) {
    await relayAnswer(answer, response, { reflection, exchange, spend });
    return;
  }
  exchange.status = answer.statusCode ?? 101;
  const lines = [...endToEnd(answer)].map(([, value, as]) => `${reflection.text(as)}: ${reflection.text(value)}\r\n`);
  response.detachSocket(socket as never);
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n${lines.join('')}\r\n`,
    'latin1',
  );
  // Both pipelines listen to both sockets.
  for (const each of [socket, there]) each.setMaxListeners(20).on('error', () => each.destroy());
  if (early.length) socket.unshift(early);
  if (first?.length) there.unshift(first);
  socket.on('data', ({ length }: Buffer) => {
    exchange.bytesSent += length;
    spend(length);
  });
  there.on('data', ({ length }: Buffer) => {
    exchange.bytesReceived += length;
    spend(length);
  });
  pipeline(socket, there, () => socket.destroy());
  // A frame says its own length.
  pipeline(there, reflection.stream(true), socket, () => socket.destroy());
}
