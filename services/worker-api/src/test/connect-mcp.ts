import {
  Client,
  type ElicitRequest,
  type ElicitResult,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import type { TestWorkerApi } from './test-worker-api';

interface McpClientOptions {
  era?: 'legacy' | 'auto';
  query?: string;
  /** Answers of the person behind it. Default: a client that cannot ask people. */
  answer?: (params: ElicitRequest['params']) => ElicitResult;
}

/** A client that we did not write, in front of `/mcp` with this credential. */
export async function connectMcp(
  api: Pick<TestWorkerApi, 'url'>,
  token: string,
  { era = 'auto', query = '', answer }: McpClientOptions = {},
): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: era }, ...(answer && { capabilities: { elicitation: { form: {} } } }) },
  );
  if (answer) client.setRequestHandler('elicitation/create', ({ params }) => answer(params));
  const headers = { Authorization: `Bearer ${token}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${api.url}/mcp${query}`), { requestInit: { headers } }),
  );
  return client;
}
