/** An MCP server with one tool, whose effects are counted: `book` with a run and a step. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';

const number = { type: 'integer' };
const TOOL = {
  name: 'book',
  description: 'Books one entry.',
  inputSchema: { type: 'object', properties: { run: number, step: number }, required: ['run', 'step'] },
  // It adds, and doing it twice adds twice.
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
};

/** @param pauseMs between an effect and its answer */
export async function startCountingMcpServer(pauseMs: () => number, host = '127.0.0.1') {
  /** By `run/step`. */
  const booked = new Map<string, number>();
  const server = http.createServer(async (req, res) => {
    const text = (await req.toArray()).map(String).join('');
    const { id, method, params } = text ? JSON.parse(text) : { id: undefined, method: '', params: {} };
    if (id === undefined) return void res.writeHead(202).end();
    const send = (body: object) =>
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, ...body }));
    if (method === 'initialize') {
      const serverInfo = { name: 'ledger', version: '1' };
      return void send({ result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo } });
    }
    if (method === 'tools/list') return void send({ result: { tools: [TOOL] } });
    if (method !== 'tools/call') return void send({ error: { code: -32601, message: 'Method not found' } });
    const entry = `${params.arguments.run}/${params.arguments.step}`;
    booked.set(entry, (booked.get(entry) ?? 0) + 1);
    setTimeout(() => send({ result: { content: [{ type: 'text', text: `booked ${entry}` }] } }), pauseMs());
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return {
    booked,
    url: `http://${host}:${(server.address() as AddressInfo).port}/mcp`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
