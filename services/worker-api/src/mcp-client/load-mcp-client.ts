/** The MCP client, loaded when a connection first asks its server: most platforms have none. */
import type { McpClient } from '../connections/mcp-client-types';
import type { McpClientOptions } from './mcp-client';

type Client = Pick<McpClient, 'listTools' | 'callTool'>;

export function createLazyMcpClient(options: McpClientOptions): Client {
  const importMcpClient = (): Client =>
    (require('./mcp-client') as typeof import('./mcp-client')).createMcpClient(options);
  let client: Client | undefined;
  const getClient = () => {
    client ??= importMcpClient();
    return client;
  };
  return {
    listTools: async (server) => getClient().listTools(server),
    callTool: async (server, call) => getClient().callTool(server, call),
  };
}
