/** A provider of models that an attacker runs: it may write anything into the streams of its answers. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setupResource } from '@gantry/testing';
import { createCaller } from './caller';
import { startTestWorkerApi } from './test-worker-api';

type Script = (res: ServerResponse) => void | Promise<void>;
type HostileProvider = Awaited<ReturnType<typeof startHostileProvider>>;

/** In this process: what it does costs nothing while it only writes texts that were made before. */
async function startHostileProvider() {
  let script: Script = (res) => void res.end();
  const server: Server = createServer(async (req, res) => {
    req.resume();
    res.on('error', () => {});
    res.writeHead(200, { 'Content-Type': 'text/event-stream' });
    await script(res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const setScript = (next: Script) => {
    script = next;
  };
  return {
    host: `127.0.0.1:${port}`,
    /** Answers every request from now on. */
    setScript,
    /** Answers with these texts. */
    says: (...texts: string[]) => {
      const answer = Buffer.from([...texts, 'data: [DONE]\n\n'].join(''));
      setScript((res) => void res.end(answer));
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Offers `acme/m` in the caller's workspace. */
async function offerProvider(caller: ReturnType<typeof createCaller>, { host }: HostileProvider): Promise<void> {
  const key = { app: 'acme', value: 'sk-of-the-workspace-4f9K', visibility: 'workspace', hosts: [host] };
  const { body } = await caller.post('/api/connections', key).expect(201);
  const prices = { m: { input_usd_per_mtok: 1, output_usd_per_mtok: 5 } };
  const offered = { name: 'acme', kind: 'openai-compatible', base_url: `http://${host}/v1`, models: ['m'], prices };
  await caller.post('/api/models/providers', { ...offered, connection_id: body.id }).expect(201);
}

/** For the tests of this file: a service whose owner has added the provider to their workspace. */
export function setupHostileProvider() {
  const provider = setupResource(startHostileProvider, (one) => one.stop());
  const api = setupResource(
    () => startTestWorkerApi({ outboundAllow: [provider.host] }),
    (started) => started.stop(),
  );
  const me = setupResource(() => createCaller(api.url, api.owner.jwt));
  beforeAll(() => offerProvider(me, provider));
  return { provider, api, me };
}

export const event = (value: unknown) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;
export const delta = (part: object) => event({ id: 'c', choices: [{ index: 0, delta: part, finish_reason: null }] });
export const call = (index: number, own: object, more: object = {}) =>
  delta({ tool_calls: [{ index, id: `c${index}`, function: own, ...more }] });
export const END = event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
export const usage = (told: string) => event(`{"choices":[],"usage":${told}}`);
export const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

const LONG = 'n'.repeat(1_400_000);
const parts = (count: number, index: (at: number) => number) =>
  delta({ tool_calls: Array.from({ length: count }, (_, at) => ({ index: index(at), function: { arguments: 'x' } })) });
const buildArguments = (chars: number) => JSON.stringify({ text: 'x'.repeat(chars) }).slice(0, -2);

/** None of them can be read. */
export const HOSTILE_ANSWERS: [string, string[]][] = [
  ['calls with names of 1.4 MB', Array.from({ length: 20 }, (_, at) => call(at, { name: LONG, arguments: '{}' }))],
  ['names that are only just an event', [call(0, { name: 'n'.repeat(300), arguments: '{}' })]],
  ['calls without an end', Array.from({ length: 20_000 }, (_, at) => call(at, { name: 'list', arguments: '{' }))],
  ['empty calls', Array.from({ length: 2_000 }, () => delta({ tool_calls: Array(100).fill({ function: {} }) }))],
  [
    'thousands of parts of a long call in an event',
    [call(0, { name: 'list', arguments: buildArguments(350_000) }), ...Array(5).fill(parts(3_000, () => 0))],
  ],
  [
    'thousands of parts of many calls in an event',
    [
      ...Array.from({ length: 128 }, (_, at) => call(at, { name: 'list', arguments: buildArguments(3_000) })),
      parts(3_000, (at) => at % 128),
    ],
  ],
  [
    'long arguments in parts of a character',
    [call(0, { name: 'list', arguments: buildArguments(380_000) }), ...Array(3_000).fill(parts(1, () => 0))],
  ],
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
  ['100,000 levels', [usage(deep(100_000))]],
  ['values without end', [event({ choices: [], more: Array(150_000).fill(0) })]],
];

/** They can be read, and hold what PostgreSQL does not store. */
export const UNSTORABLE_ANSWERS: [string, string[]][] = [
  [
    'NUL and half characters',
    [delta({ content: 'a\0b\ud83d' }), call(0, { name: 'a\0b', arguments: '{"a":"\\u0000"}' })],
  ],
  [
    '100,000 levels in the arguments of a call',
    [call(0, { name: 'list_workers', arguments: `{"a":${deep(100_000)}}` })],
  ],
];
