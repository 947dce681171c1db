import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

type Responder = (response: ServerResponse, request: ReceivedRequest) => void;

export type ScriptedServer = Awaited<ReturnType<typeof startScriptedServer>>;

export const respond =
  (status: number, body: unknown, headers: Record<string, string> = {}): Responder =>
  (response) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };

/** An HTTP server on this machine that responds as a test says. */
export async function startScriptedServer() {
  const requests: ReceivedRequest[] = [];
  const script: Responder[] = [];
  const server = createServer(async (req, res) => {
    const body = Buffer.concat(await req.toArray()).toString();
    const received = { method: req.method ?? '', url: req.url ?? '', headers: req.headers, body };
    requests.push(received);
    const responder = script.length > 1 ? script.shift() : script[0];
    responder?.(res, received);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    /** Responses to the next requests, in their order; the last one stays. */
    script,
    stop: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
