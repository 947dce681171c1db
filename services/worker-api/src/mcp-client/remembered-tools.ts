/** Lists of tools that are kept for a while, so that looking at them asks nobody. */
import type { Sql } from '@gantry/postgres';
import type { McpClient } from '../connections/mcp-port';
import { acceptTools, findTools, forgetTools, rememberTools } from './tool-list-repository';

/** Remembers every list of the client. @param now the service's clock */
export function rememberingClient(
  client: Pick<McpClient, 'listTools' | 'callTool'>,
  { sql, now }: { sql: Sql; now: () => Date },
): McpClient {
  return {
    listTools: async (server) => (await rememberTools(sql, server, await client.listTools(server), now())).tools,
    callTool: client.callTool,
    knownTools: async (server, fresh = false) => (await findTools(sql, server, { fresh, now: now() }))?.tools ?? null,
    acceptTools: async (server) => void (await acceptTools(sql, server)),
    forgetTools: async (server) => void (await forgetTools(sql, server)),
  };
}
