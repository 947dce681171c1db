/**
 * The tools, resources and prompts that the server scenarios of @modelcontextprotocol/conformance prescribe, behind the
 * transport of `/mcp`: what passes here is the transport's doing. Texts and names are the suite's.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CallToolResult, createMcpHandler, ResourceNotFoundError, Server } from '@modelcontextprotocol/server';
import express from 'express';
import { createMcpTransport } from '../mcp/mcp-transport';
import { ASKING_PROMPT, ASKING_TOOLS, askByPrompt, askByTool, openConformanceState } from './conformance-questions';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

const IMAGE = { type: 'image' as const, data: PIXEL, mimeType: 'image/png' };
const text = (said: string) => ({ type: 'text' as const, text: said });
const toEmbeddedResource = (uri: string, mimeType: string, said: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text: said },
});

const EMPTY = { type: 'object' as const, properties: {} };
const STRING = { type: 'string' as const };
const ADDRESSED = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object' as const,
  $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: STRING, city: STRING } } },
  properties: {
    name: STRING,
    address: { $ref: '#/$defs/address' },
    phone: STRING,
    email: STRING,
    contactMethod: { ...STRING, enum: ['phone', 'email'] },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

const ANSWERS: Record<string, CallToolResult> = {
  test_simple_text: { content: [text('This is a simple text response for testing.')] },
  test_image_content: { content: [IMAGE] },
  test_audio_content: { content: [{ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }] },
  test_embedded_resource: {
    content: [toEmbeddedResource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  },
  test_multiple_content_types: {
    content: [
      text('Multiple content types test:'),
      IMAGE,
      toEmbeddedResource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  },
  test_error_handling: {
    content: [text('This tool intentionally returns an error for testing')],
    isError: true,
  },
  test_tool_with_logging: { content: [text('It was logged.')] },
  test_tool_with_progress: { content: [text('Progress was reported.')] },
  json_schema_2020_12_tool: { content: [text('It has a schema.')] },
};

const PROMPTS = {
  test_simple_prompt: () => [text('This is a simple prompt for testing.')],
  test_prompt_with_arguments: ({ arg1 = '', arg2 = '' }) => [
    text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`),
  ],
  test_prompt_with_embedded_resource: ({ resourceUri = '' }) => [
    toEmbeddedResource(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
    text('Please process the embedded resource above.'),
  ],
  test_prompt_with_image: () => [IMAGE, text('Please analyze the image above.')],
} satisfies Record<string, (given: Record<string, string>) => object[]>;

const PROMPT_ARGUMENTS: Record<string, string[]> = {
  test_prompt_with_arguments: ['arg1', 'arg2'],
  test_prompt_with_embedded_resource: ['resourceUri'],
};

function fixture(): Server {
  const server = new Server(
    { name: 'conformance', version: '1' },
    {
      capabilities: { tools: {}, resources: {}, prompts: {}, completions: {}, logging: {} },
      requestState: { verify: openConformanceState },
    },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: [...Object.keys(ANSWERS), ...ASKING_TOOLS].map((name) => ({
      name,
      description: `Answers as the scenario of ${name} says.`,
      inputSchema: name === 'json_schema_2020_12_tool' ? ADDRESSED : EMPTY,
    })),
  }));
  server.setRequestHandler('tools/call', async ({ params: { name } }, context) => {
    const { mcpReq } = context;
    const asked = askByTool(name, context);
    if (asked) return asked;
    const progressToken = mcpReq._meta?.progressToken;
    if (name === 'test_tool_with_progress' && progressToken !== undefined) {
      for (const progress of [0, 50, 100]) {
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
      }
    }
    if (name === 'test_tool_with_logging') {
      for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } });
      }
    }
    return ANSWERS[name] ?? { content: [text(`there is no tool ${name}`)], isError: true };
  });
  server.setRequestHandler('resources/list', () => ({
    resources: [
      { uri: 'test://static-text', name: 'Text', description: 'A text', mimeType: 'text/plain' },
      { uri: 'test://static-binary', name: 'Image', description: 'A pixel', mimeType: 'image/png' },
    ],
  }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'Data', mimeType: 'application/json' }],
  }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => ({ contents: [readContent(uri)] }));
  server.setRequestHandler('prompts/list', () => ({
    prompts: [...Object.keys(PROMPTS), ASKING_PROMPT].map((name) => ({
      name,
      description: `The prompt of ${name}`,
      arguments: (PROMPT_ARGUMENTS[name] ?? []).map((one) => ({ name: one, required: true })),
    })),
  }));
  server.setRequestHandler('prompts/get', ({ params: { name, arguments: given = {} } }, context) => {
    if (name === ASKING_PROMPT) return askByPrompt(context);
    const messages = PROMPTS[name as keyof typeof PROMPTS](given);
    return { messages: messages.map((content) => ({ role: 'user' as const, content })) };
  });
  server.setRequestHandler('completion/complete', () => ({ completion: { values: ['paris', 'park', 'party'] } }));
  return server;
}

function readContent(uri: string) {
  if (uri === 'test://static-text') {
    return { uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' };
  }
  if (uri === 'test://static-binary') return { uri, mimeType: 'image/png', blob: PIXEL };
  const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? [];
  if (id === undefined) throw new ResourceNotFoundError(uri);
  return {
    uri,
    mimeType: 'application/json',
    text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
  };
}

export interface ConformanceServer {
  url: string;
  stop(): Promise<void>;
}

/** @param port 0: any that is free */
export async function startConformanceServer(port = 0): Promise<ConformanceServer> {
  const app = express();
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const baseUrl = `http://localhost:${(server.address() as AddressInfo).port}`;
  const exchange = createMcpTransport(createMcpHandler(fixture), { baseUrl, publicUrls: [baseUrl] });
  app.post('/mcp', express.json(), (req, res, next) => {
    const authInfo = { token: '', clientId: '', scopes: [] };
    exchange({ req, res, body: req.body, bearer: null, authInfo }).catch(next);
  });
  app.use(((err, _req, res, _next) => {
    res.status((err as { status?: number }).status ?? 500).json({ detail: String(err) });
  }) satisfies express.ErrorRequestHandler);
  return {
    url: `${baseUrl}/mcp`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
