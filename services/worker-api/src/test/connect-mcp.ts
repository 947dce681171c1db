import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { TestWorkerApi } from './test-worker-api';

/** A client that we did not write, in front of `/mcp` with this credential. */
export async function connectMcp(
  api: Pick<TestWorkerApi, 'url'>,
  token: string,
  { era = 'auto', query = '' }: { era?: 'legacy' | 'auto'; query?: string } = {},
): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: era } });
  const headers = { Authorization: `Bearer ${token}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${api.url}/mcp${query}`), { requestInit: { headers } }),
  );
  return client;
}
