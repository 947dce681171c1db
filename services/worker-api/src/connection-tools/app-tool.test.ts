import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRedactor } from '@gantry/masking';
import { providers } from '../integrations/catalog';
import { github } from '../integrations/catalog/code';
import { type AppCall, buildAppRequest, sendAppRequest } from './app-tool';
import { maskOutcome } from './tool-result';

let answer: (res: http.ServerResponse) => void;
const asked: { method: string | undefined; url: string | undefined; token: string | undefined; body: string }[] = [];
const service = http.createServer(async (req, res) => {
  let body = '';
  for await (const piece of req) body += piece;
  asked.push({ method: req.method, url: req.url, token: req.headers.authorization, body });
  answer(res);
});
beforeAll(() => new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve)));
beforeEach(() => asked.splice(0));
afterAll(() => {
  const closed = new Promise((resolve) => service.close(resolve));
  service.closeAllConnections();
  return closed;
});

const getTool = (name: string) => {
  const tool = github.tools.find((one) => one.name === name);
  if (!tool) throw new Error(`no ${name}`);
  return tool;
};
const buildCall = (name: string, given: Record<string, unknown>): AppCall => ({
  provider: github,
  tool: getTool(name),
  parameters: {},
  hosts: github.hosts,
  allow: ['127.0.0.0/8'],
  arguments: given,
  timeoutMs: 500,
});
/** The same request, to the service of this test. */
async function send(name: string, given: Record<string, unknown>) {
  const call = buildCall(name, given);
  const request = buildAppRequest(call);
  if ('failed' in request) throw new Error(request.failed.message);
  const url = new URL(request.url);
  const { port } = service.address() as AddressInfo;
  return sendAppRequest(call, { ...request, url: `http://127.0.0.1:${port}${url.pathname}${url.search}` }, 'gho_token');
}
const issue = { owner: 'ada', repo: 'engine', title: 'Loops' };

test('arguments go into path, query and body as the catalogue declares, and the token into its header', async () => {
  answer = (res) => res.writeHead(201).end('{"number":7}');
  expect((await send('create_issue', { ...issue, labels: ['bug'] })).outcome).toEqual({ result: { number: 7 } });
  expect((await send('list_issues', { owner: 'a b', repo: 'x/y', per_page: 5 })).outcome).toEqual({
    result: { number: 7 },
  });
  expect(asked).toEqual([
    {
      method: 'POST',
      url: '/repos/ada/engine/issues',
      token: 'Bearer gho_token',
      body: '{"title":"Loops","labels":["bug"]}',
    },
    { method: 'GET', url: '/repos/a%20b/x%2Fy/issues?per_page=5', token: 'Bearer gho_token', body: '' },
  ]);
});

test.each(['..', '.', ''])('the argument %j does not lead to another address', (owner) => {
  expect(buildAppRequest(buildCall('create_issue', { ...issue, owner }))).toMatchObject({
    failed: { code: 'invalid_arguments' },
  });
});

test('a token is sent only to hosts of its connection', () => {
  const elsewhere = { ...buildCall('create_issue', issue), hosts: ['api.acme.example'] };
  expect(buildAppRequest(elsewhere)).toMatchObject({ failed: { code: 'not_allowed' } });
});

test('refusals are errors; an interrupted or failed write has an unknown outcome', async () => {
  answer = (res) => res.writeHead(422).end('{"message":"no such label"}');
  expect((await send('create_issue', issue)).outcome).toMatchObject({ failed: { code: 'tool_error' }, isFinal: false });
  answer = (res) => res.writeHead(200).end('{"ok":false,"error":"channel_not_found"}');
  expect((await send('create_issue', issue)).outcome).toMatchObject({ failed: { code: 'tool_error' }, isFinal: false });
  answer = (res) => res.writeHead(302, { location: 'http://169.254.169.254/' }).end();
  expect((await send('create_issue', issue)).outcome).toMatchObject({ failed: { code: 'tool_error' } });
  answer = (res) => res.writeHead(502).end();
  expect((await send('create_issue', issue)).outcome).toMatchObject({
    failed: { code: 'outcome_unknown' },
    isFinal: true,
  });
  answer = (res) => res.destroy();
  expect((await send('create_issue', issue)).outcome).toMatchObject({
    failed: { code: 'outcome_unknown' },
    isFinal: true,
  });
  expect((await send('list_issues', issue)).outcome).toMatchObject({ failed: { code: 'unavailable' }, isFinal: false });
});

test.each([422, 502, 200])(
  'nothing of a token is left where the long body of status %i is truncated',
  async (status) => {
    for (const chars of [430, 1_400]) {
      const error = `${'x'.repeat(chars)} ${'gho_token '.repeat(100)}`;
      answer = (res) => res.writeHead(status).end(JSON.stringify({ ok: false, error }));
      const shown = await maskOutcome((await send('create_issue', issue)).outcome, createRedactor(['gho_token']));
      expect(shown).toMatchObject({ failed: { message: expect.stringMatching(/xxx [*]{3} /) } });
      expect(JSON.stringify(shown)).not.toMatch(/gho/);
    }
  },
);

test('every tool of the catalogue can be called with one text for each of its arguments', () => {
  for (const provider of providers) {
    const parameters = Object.fromEntries(
      [...(provider.parameters ?? []).map(({ name }) => name), ...Object.keys(provider.learn ?? {})].map((name) => [
        name,
        'x',
      ]),
    );
    for (const tool of provider.tools) {
      const names = Object.keys((tool.inputSchema as { properties: object }).properties);
      const request = buildAppRequest({
        provider,
        tool,
        parameters,
        hosts: provider.hosts.map((host) => host.replaceAll(/\{\w+\}/g, 'x')),
        allow: [],
        timeoutMs: 1,
        arguments: Object.fromEntries(names.map((name) => [name, 'x'])),
      });
      if (!Object.keys(provider.learn ?? {}).length)
        expect([tool.name, request]).toEqual([
          tool.name,
          expect.objectContaining({ url: expect.not.stringMatching(/[{}]/) }),
        ]);
    }
  }
});
