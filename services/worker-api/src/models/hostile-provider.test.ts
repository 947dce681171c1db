/** Hostile responses of a workspace's own provider: none stops the service, books money that was not spent, or leaves a call open. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { given, until } from '@gantry/testing';
import { callerOf } from '../test/caller';
import { startTestWorkerApi } from '../test/test-worker-api';

type Script = (res: ServerResponse) => void | Promise<void>;

/** In this process: what it does costs nothing while it only writes texts that were made before. */
async function startProvider() {
  let script: Script = (res) => void res.end();
  const server: Server = createServer(async (req, res) => {
    req.resume();
    res.on('error', () => {});
    res.writeHead(200, { 'Content-Type': 'text/event-stream' });
    await script(res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    host: `127.0.0.1:${port}`,
    says: (next: Script) => {
      script = next;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const provider = given(startProvider, (one) => one.stop());
const api = given(
  () => startTestWorkerApi({ outboundAllow: [provider.host] }),
  (started) => started.stop(),
);
const me = given(() => callerOf(api.url, api.owner.jwt));
given(async () => {
  const key = { app: 'acme', value: 'sk-of-the-workspace-4f9K', visibility: 'workspace', hosts: [provider.host] };
  const { body } = await me.post('/api/connections', key).expect(201);
  const prices = { m: { input_usd_per_mtok: 15, output_usd_per_mtok: 75 } };
  const offered = {
    name: 'acme',
    kind: 'openai-compatible',
    base_url: `http://${provider.host}/v1`,
    models: ['m'],
    prices,
  };
  await me.post('/api/models/providers', { ...offered, connection_id: body.id }).expect(201);
  return {};
});

const event = (value: unknown) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;
const delta = (part: object) => event({ id: 'c', choices: [{ index: 0, delta: part, finish_reason: null }] });
const call = (index: number, own: object, more: object = {}) =>
  delta({ tool_calls: [{ index, id: `c${index}`, function: own, ...more }] });
const END = event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const usage = (told: string) => event(`{"choices":[],"usage":${told}}`);
const says = (...texts: string[]) => provider.says((res) => void res.end([...texts, 'data: [DONE]\n\n'].join('')));

async function ask(): Promise<{ status: string; error: { code: string; detail: string } | null }> {
  const { body } = await me.post('/api/chat', { message: 'Hello', model: 'acme/m', stream: false }).expect(200);
  return body;
}
async function lastCall() {
  const { rows } = await api.deps.pool.query(
    `SELECT outcome, estimated, usd, reserved_usd AS reserved, input_tokens AS input, output_tokens AS output
     FROM model_calls ORDER BY started_at DESC, id DESC LIMIT 1`,
  );
  return rows[0];
}

const LONG = 'n'.repeat(1_400_000);
test.each<[string, string[]]>([
  ['calls with names of 1.4 MB', Array.from({ length: 20 }, (_, at) => call(at, { name: LONG, arguments: '{}' }))],
  ['names that are only just an event', [call(0, { name: 'n'.repeat(300), arguments: '{}' })]],
  ['calls without an end', Array.from({ length: 20_000 }, (_, at) => call(at, { name: 'list', arguments: '{' }))],
  ['empty calls', Array.from({ length: 2_000 }, () => delta({ tool_calls: Array(100).fill({ function: {} }) }))],
  ['a line of 16 MB', [delta({ content: 'a'.repeat(16 << 20) })]],
  ['a line without an end', ['data: ', 'a'.repeat(2 << 20)]],
  [
    'signatures of 20 MB',
    Array.from({ length: 60 }, (_, at) =>
      call(
        at,
        { name: 'list', arguments: '{}' },
        { extra_content: { google: { thought_signature: 's'.repeat(350_000) } } },
      ),
    ),
  ],
  ['100,000 levels', [usage(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)]],
  ['values without end', [event({ choices: [], more: Array(150_000).fill(0) })]],
])(
  'an answer with %s is given up, and its call is settled',
  async (_, texts) => {
    says(...texts, END);
    expect(await ask()).toMatchObject({ status: 'failed', error: { code: 'model_malformed' } });
    expect(await lastCall()).toMatchObject({ outcome: 'failed' });
  },
  60_000,
);

test.each([
  ['fewer tokens than none', '{"prompt_tokens":-2000000000,"completion_tokens":-5}'],
  ['more than the request can have used', '{"prompt_tokens":2000000000,"completion_tokens":10}'],
  ['more than was asked for', '{"prompt_tokens":10,"completion_tokens":2000000000}'],
  ['parts of a token', '{"prompt_tokens":1.5,"completion_tokens":1}'],
  ['numbers beyond all', '{"prompt_tokens":1e300,"completion_tokens":1}'],
  [
    'more from the cache than there was',
    '{"prompt_tokens":10,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":11}}',
  ],
  [
    'less than nothing from the cache',
    '{"prompt_tokens":10,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":-11}}',
  ],
])('a provider that reports %s is paid by the estimate', async (_, told) => {
  says(delta({ content: 'Hello' }), END, usage(told));
  expect(await ask()).toMatchObject({ status: 'completed' });
  const { outcome, estimated, usd, reserved, input, output } = await lastCall();
  expect({ outcome, estimated }).toEqual({ outcome: 'ok', estimated: true });
  expect([usd > 0, usd <= reserved, input > 0, output > 0]).toEqual([true, true, true, true]);
});

test('usage that can be believed is booked as it was reported', async () => {
  says(
    delta({ content: 'Hello' }),
    END,
    usage('{"prompt_tokens":900,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":500}}'),
  );
  await ask();
  expect(await lastCall()).toMatchObject({ outcome: 'ok', estimated: false, output: 7 });
});

test.each([
  [
    'NUL and half characters',
    [delta({ content: 'a\0b\ud83d' }), call(0, { name: 'a\0b', arguments: '{"a":"\\u0000"}' })],
  ],
  [
    '100,000 levels in the arguments of a call',
    [call(0, { name: 'list_workers', arguments: `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}` })],
  ],
])('an answer with %s leaves no call and no turn open', async (_, texts) => {
  says(...texts, END);
  const turn = ask();
  await until(async () => (await lastCall())?.outcome !== 'started');
  says(delta({ content: 'Done' }), END);
  expect((await turn).status).toMatch(/completed|failed/);
  const { rows } = await api.deps.pool.query("SELECT FROM model_calls WHERE outcome = 'started'");
  expect(rows).toHaveLength(0);
});

test('others are answered while a provider sends empty events as fast as it can', async () => {
  const many = event({ choices: [] }).repeat(2_000);
  const flood = { begun: false, stopped: false };
  provider.says((res) => {
    const send = () => {
      while (!flood.stopped && res.write(many));
    };
    res.on('drain', send).once('close', () => {
      flood.stopped = true;
    });
    flood.begun = true;
    send();
  });
  let isOver = false;
  const turn = ask().finally(() => {
    isOver = true;
  });
  await until(async () => flood.begun);
  for (let answered = 0; answered < 30; answered++) await me.get('/health').expect(200);
  expect(isOver).toBe(false);
  const { body } = await me.get('/api/conversations').expect(200);
  await me.post(`/api/conversations/${body[0].id}/stop`).expect((res) => expect(res.status).toBeLessThan(300));
  expect(await turn).toMatchObject({ status: 'stopped' });
  await until(async () => flood.stopped);
}, 60_000);
