import { createRedactor } from '@gantry/masking';
import { testWorkerApi } from '../test/test-worker-api';
import { createMcpClient } from './mcp-client';

const api = testWorkerApi();

test('a server of the current protocol, our own, lists its tools and is called', async () => {
  const masking = { redactorFor: async (secrets: string[]) => createRedactor(secrets) };
  const client = createMcpClient({ allow: ['127.0.0.0/8', '::1/128'], version: '1', masking });
  const server = {
    workspaceId: api.workspaceId,
    connectionId: 'con_1',
    version: 1,
    url: `${api.url.replace('localhost', '127.0.0.1')}/mcp`,
    headers: { Authorization: `Bearer ${api.owner.jwt}` },
  };
  const tools = await client.listTools(server);
  expect(tools.map(({ name }) => name)).toContain('list_workers');
  const answer = await client.callTool(server, { name: 'list_workers', arguments: {}, allowedTools: ['list_workers'] });
  expect(answer.structuredContent).toMatchObject({ items: [] });
});
