/** Tests the transport as the protocol's conformance suite does, with a client that we did not write. */
import { setupResource } from '@gantry/testing';
import { Client, type Progress, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type ConformanceServer, startConformanceServer } from '../test/conformance-server';

const server: ConformanceServer = setupResource(startConformanceServer, (started) => started.stop());

async function connect(mode: 'legacy' | 'auto'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
  return client;
}

describe.each(['legacy', 'auto'] as const)('%s', (mode) => {
  let client: Client;
  beforeAll(async () => {
    client = await connect(mode);
  });
  afterAll(() => client.close());
  const call = (name: string) => client.callTool({ name, arguments: {} });

  test('contents of every kind arrive unchanged', async () => {
    const { content } = await call('test_multiple_content_types');
    expect(content.map(({ type }) => type)).toEqual(['text', 'image', 'resource']);
    expect((await call('test_audio_content')).content).toMatchObject([{ type: 'audio', mimeType: 'audio/wav' }]);
    expect(await call('test_error_handling')).toMatchObject({ isError: true });
  });

  test('progress arrives in its order, before the result', async () => {
    const told: Progress[] = [];
    const options = { onprogress: (progress: Progress) => void told.push(progress) };
    const { content } = await client.callTool({ name: 'test_tool_with_progress', arguments: {} }, options);
    expect(content).toHaveLength(1);
    expect(told.map(({ progress, total }) => [progress, total])).toEqual([
      [0, 100],
      [50, 100],
      [100, 100],
    ]);
  });

  test('a schema of 2020-12 is listed with all its keywords', async () => {
    const { tools } = await client.listTools();
    const schema = tools.find(({ name }) => name === 'json_schema_2020_12_tool')?.inputSchema;
    expect(Object.keys(schema ?? {}).sort()).toEqual([
      ...['$defs', '$schema', 'additionalProperties', 'allOf', 'else', 'if', 'properties', 'then', 'type'],
    ]);
  });

  test('resources, templates, prompts and completions respond', async () => {
    expect((await client.readResource({ uri: 'test://static-binary' })).contents).toMatchObject([
      { mimeType: 'image/png', blob: expect.any(String) },
    ]);
    const { contents } = await client.readResource({ uri: 'test://template/123/data' });
    expect(JSON.stringify(contents)).toContain('Data for ID: 123');
    await expect(client.readResource({ uri: 'test://nothing' })).rejects.toThrow(/not found/i);
    const prompt = { name: 'test_prompt_with_arguments', arguments: { arg1: 'a', arg2: 'b' } };
    expect(JSON.stringify(await client.getPrompt(prompt))).toContain("arg1='a', arg2='b'");
    const ref = { type: 'ref/prompt' as const, name: 'test_prompt_with_arguments' };
    const { completion } = await client.complete({ ref, argument: { name: 'arg1', value: 'par' } });
    expect(completion.values).toContain('paris');
  });

  test('many simultaneous requests each get their own response', async () => {
    const uris = Array.from({ length: 20 }, (_, i) => `test://template/${i}/data`);
    const all = await Promise.all(uris.map((uri) => client.readResource({ uri })));
    expect(all.map(({ contents }) => contents[0]?.uri)).toEqual(uris);
  });
});

test('a page of another host is refused, before its message is read', async () => {
  const postFromOrigin = async (origin: string) => {
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', origin };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    return (await fetch(server.url, { method: 'POST', headers, body })).status;
  };
  expect(await postFromOrigin('http://evil.example.com')).toBe(403);
  expect(await postFromOrigin(new URL(server.url).origin)).toBe(200);
});

test('a tool that asks twice gets both answers, and a modified state is refused', async () => {
  const options = { versionNegotiation: { mode: 'auto' as const }, capabilities: { elicitation: { form: {} } } };
  const client = new Client({ name: 'test', version: '1' }, options);
  const said = [{ name: 'Ada' }, { color: 'blue' }];
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: said.shift() ?? {} }));
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
  const name = 'test_input_required_result_multi_round';
  expect(JSON.stringify(await client.callTool({ name, arguments: {} }))).toContain('blue');
  expect(said).toEqual([]);
  const changed = { name, arguments: {}, requestState: 'eyJydW5JZCI6IjEifQ.AAAA' };
  await expect(client.callTool(changed)).rejects.toMatchObject({ code: -32602 });
  await client.close();
});
