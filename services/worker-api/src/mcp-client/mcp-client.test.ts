import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRedactor } from '@gantry/masking';
import type { McpServer } from '../connections/mcp-client-types';
import { createMcpClient } from './mcp-client';

type Answering = (
  message: { id?: number; method: string; params?: Record<string, unknown> },
  res: http.ServerResponse,
) => void;

let answering: Answering;
let asked: { message: string; authorization: string | undefined }[] = [];
const server = http.createServer(async (req, res) => {
  let text = '';
  for await (const piece of req) text += piece;
  const message = text ? JSON.parse(text) : { method: '' };
  asked.push({ message: message.method, authorization: req.headers.authorization });
  answering(message, res);
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
beforeEach(() => {
  asked = [];
});
afterAll(() => {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  return closed;
});

const buildServer = (): McpServer => ({
  workspaceId: 'ws_1',
  connectionId: 'con_1',
  version: 1,
  url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
  headers: { Authorization: 'Bearer not-to-be-shown' },
});
const masking = { redactorFor: async (secrets: string[]) => createRedactor(secrets) };
const options = { allow: ['127.0.0.0/8'], version: '1', masking };
const client = createMcpClient(options);
const hasty = createMcpClient({ ...options, listTimeoutMs: 300, callTimeoutMs: 300 });

const json = (res: http.ServerResponse, body: unknown, status = 200): void => {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};
const result = (id: unknown, value: object) => ({ jsonrpc: '2.0', id, result: value });
const tool = (name: string, more: object = {}) => ({
  name,
  description: 'Says it.',
  inputSchema: { type: 'object' },
  ...more,
});
const buildCall = (name: string, allowedTools: string[] | null = null) => ({ name, arguments: {}, allowedTools });

/** A server of 2025, which knows no `server/discover`, and answers what comes after `initialize` like this. */
const legacy =
  (answer: Answering): Answering =>
  (message, res) => {
    const { id, method } = message;
    if (method === 'initialize') {
      const serverInfo = { name: 'old', version: '1' };
      return json(res, result(id, { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo }));
    }
    if (id === undefined) return void res.writeHead(202).end();
    if (method === 'server/discover') {
      return json(res, { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } });
    }
    answer(message, res);
  };
const listing = (...tools: object[]) => legacy(({ id }, res) => json(res, result(id, { tools })));

/** Its code and what it says. */
async function failure(work: Promise<unknown>): Promise<string> {
  const err = await work.then(
    () => undefined,
    (reason) => reason,
  );
  expect(err?.name).toBe('McpClientError');
  expect(err.message).not.toContain('not-to-be-shown');
  return `${err.code}: ${err.message}`;
}

test('a server of the older protocol is called in its own, page by page, with the headers of the connection', async () => {
  answering = legacy(({ id, method, params }, res) => {
    if (method === 'tools/call') return json(res, result(id, { content: [{ type: 'text', text: 'done' }] }));
    json(
      res,
      result(id, params?.cursor ? { tools: [tool('second')] } : { tools: [tool('first')], nextCursor: 'more' }),
    );
  });
  expect((await client.listTools(buildServer())).map(({ name }) => name)).toEqual(['first', 'second']);
  expect(asked.every(({ authorization }) => authorization === 'Bearer not-to-be-shown')).toBe(true);
  const { content } = await client.callTool(buildServer(), buildCall('first', ['first']));
  expect(content).toEqual([{ type: 'text', text: 'done' }]);
});

test('a tool that the connection does not allow is not called', async () => {
  const refused = client.callTool(buildServer(), buildCall('drop_everything', ['first']));
  expect(await failure(refused)).toMatch(/does not allow the tool drop_everything/);
  expect(asked).toEqual([]);
});

test('a stream that stays open after its response does not delay the caller', async () => {
  answering = legacy(({ id }, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    const answer = JSON.stringify(result(id, { tools: [tool('streamed')] }));
    res.write(`: hello\n\nevent: message\ndata: ${answer.slice(0, 30)}`);
    res.write(`${answer.slice(30)}\r\n\r\n`);
  });
  expect(await client.listTools(buildServer())).toMatchObject([{ name: 'streamed' }]);
});

test('a server that never responds, or streams without an end, times out', async () => {
  answering = () => undefined;
  expect(await failure(hasty.listTools(buildServer()))).toMatch(/^timeout: /);
  answering = legacy((_, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(': still here\n\n');
  });
  expect(await failure(hasty.listTools(buildServer()))).toMatch(/^timeout: /);
  expect(await failure(hasty.callTool(buildServer(), buildCall('slow')))).toMatch(/^timeout: /);
});

test('a response or a stream of 10 MB is refused', async () => {
  const large = 'x'.repeat(10_000_000);
  answering = listing(tool('large', { description: large }));
  expect(await failure(client.listTools(buildServer()))).toMatch(/^too_large: .* more than 1000000 bytes/);
  answering = legacy((_, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(`data: ${large}`);
  });
  expect(await failure(client.listTools(buildServer()))).toMatch(/^too_large: /);
  answering = legacy(({ id }, res) => json(res, result(id, { content: [{ type: 'text', text: large }] })));
  expect(await failure(client.callTool(buildServer(), buildCall('large')))).toMatch(
    /^too_large: .* than 5000000 bytes/,
  );
});

test('10,000 tools are refused, on one page or on as many', async () => {
  answering = listing(
    ...Array.from({ length: 10_000 }, (_, at) => ({ name: `t${at}`, inputSchema: { type: 'object' } })),
  );
  expect(await failure(client.listTools(buildServer()))).toBe('too_large: it lists more than 1000 tools');
  answering = legacy(({ id }, res) => json(res, result(id, { tools: [], nextCursor: 'again' })));
  expect(await failure(client.listTools(buildServer()))).toBe('too_large: its tool list has more than 50 pages');
});

test.each([
  ['no schema of an object', tool('odd', { inputSchema: { type: 'object', properties: [] } })],
  ['a schema of a text', tool('odd', { inputSchema: { type: 'string' } })],
  ['no schema', { name: 'odd' }],
  ['a list of requirements that is none', tool('odd', { inputSchema: { type: 'object', required: [1] } })],
  ['a name with a line break', tool('odd\nname')],
  ['a name of 300 characters', tool('n'.repeat(300))],
  [
    'an invisible character in the name of an argument',
    tool('odd', { inputSchema: { type: 'object', properties: { 'to\u{e0041}': { type: 'string' } } } }),
  ],
  ['a description of 30,000 characters', tool('odd', { description: 'd'.repeat(30_000) })],
  [
    'a schema that is nested 100 deep',
    tool('odd', {
      inputSchema: Array.from({ length: 100 }).reduce<object>((inner) => ({ type: 'object', not: inner }), {}),
    }),
  ],
])('a tool with %s is a clear error', async (_, bad) => {
  answering = listing(tool('good'), bad);
  expect(await failure(client.listTools(buildServer()))).toMatch(/^bad_answer: /);
});

test('a server that wants another credential, fails or speaks another protocol is distinguished', async () => {
  answering = (_, res) => json(res, { error: 'who are you?' }, 401);
  expect(await failure(client.listTools(buildServer()))).toMatch(/^unauthorized: /);
  answering = (_, res) => void res.writeHead(503).end('away');
  expect(await failure(client.listTools(buildServer()))).toMatch(/^bad_answer: .*503/);
  answering = (_, res) => void res.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>');
  expect(await failure(client.listTools(buildServer()))).toMatch(/^bad_answer: /);
  answering = legacy(({ id }, res) => {
    json(res, { jsonrpc: '2.0', id, error: { code: -32000, message: 'no '.repeat(10_000) } });
  });
  expect((await failure(client.listTools(buildServer()))).length).toBeLessThan(500);
});

test('a private address is not reached, and a redirect leads to none', async () => {
  answering = (_, res) => void res.writeHead(307, { location: 'http://169.254.169.254/latest' }).end();
  expect(await failure(client.listTools(buildServer()))).toMatch(/^(bad_answer|unreachable): /);
  asked = [];
  const strict = createMcpClient({ ...options, allow: [] });
  expect(await failure(strict.listTools(buildServer()))).toMatch(/^unreachable: /);
  expect(asked).toEqual([]);
});

test('a credential that a server echoes is not shown, nor are control sequences', async () => {
  const error = { code: -32000, message: 'got Bearer not-to-be-shown\u001b[31m' };
  answering = legacy(({ id }, res) => json(res, { jsonrpc: '2.0', id, error }));
  const said = await failure(client.listTools(buildServer()));
  expect(said).toMatch(/^bad_answer: .*got \*\*\* \[31m$/);
});

test('nothing of a credential is left where a long error is truncated', async () => {
  const error = { code: -32000, message: `${'x'.repeat(250)} ${'not-to-be-shown '.repeat(100)}` };
  answering = legacy(({ id }, res) => json(res, { jsonrpc: '2.0', id, error }));
  const said = await failure(client.listTools(buildServer()));
  expect(said).toMatch(/x [*]{3} /);
  expect(said).not.toMatch(/not-/);
});

test('no text of a tool has characters in which instructions can hide from the person who accepts it', async () => {
  const hidden = '\u202e\u200b\u{e0041}\u0007\ufeff';
  const to = { type: 'string', description: `The ${hidden}address.`, examples: [`a${hidden}b`] };
  answering = listing(
    tool('send', {
      description: `Sends${hidden} it.\n\tAt once.`,
      inputSchema: { type: 'object', properties: { to } },
    }),
  );
  const properties = { to: { type: 'string', description: 'The address.', examples: ['ab'] } };
  expect(await client.listTools(buildServer())).toEqual([
    { name: 'send', description: 'Sends it.\n\tAt once.', inputSchema: { type: 'object', properties } },
  ]);
});

test('two tools of one name are refused, on different pages too', async () => {
  answering = legacy(({ id, params }, res) => {
    const next = params?.cursor ? {} : { nextCursor: 'second' };
    json(res, result(id, { tools: [tool('search')], ...next }));
  });
  await expect(failure(client.listTools(buildServer()))).resolves.toBe('bad_answer: its tool search is listed twice');
});
