/** Caches lists of tools for a while, so that reading them needs no request. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CHARS_PER_TURN, type Redactor } from '@gantry/masking';
import type { Sql } from '@gantry/postgres';
import { listHeaderValues } from '../connections/mask-request';
import type { McpClient, McpTool } from '../connections/mcp-client-types';
import type { Masking } from '../secrets/masking';
import { acceptToolList, deleteToolList, findToolList, upsertToolList } from './tool-list-repository';
import { mapStrings } from './validate-tools';

/** Remembers every list of the client. @param now the service's clock */
export function createCachingClient(
  client: Pick<McpClient, 'listTools' | 'callTool'>,
  { sql, masking, now }: { sql: Sql; masking: Pick<Masking, 'redactorFor'>; now: () => Date },
): McpClient {
  return {
    async listTools(server) {
      const listed = await client.listTools(server);
      const tools = await maskTools(await masking.redactorFor(listHeaderValues(server.headers)), listed);
      return (await upsertToolList(sql, server, tools, now())).tools;
    },
    callTool: client.callTool,
    knownTools: async (server, fresh = false) =>
      (await findToolList(sql, server, { fresh, now: now() }))?.tools ?? null,
    acceptTools: async (server) => void (await acceptToolList(sql, server)),
    forgetTools: async (server) => void (await deleteToolList(sql, server)),
  };
}

/** Every viewer sees descriptions, and models are given them: a server may write into them what it was sent. */
async function maskTools(redactor: Redactor, tools: McpTool[]): Promise<McpTool[]> {
  const masked: McpTool[] = [];
  let chars = 0;
  const maskText = (transform: string) => {
    chars += transform.length;
    return redactor.text(transform);
  };
  for (const tool of tools) {
    const { description, inputSchema } = tool;
    masked.push({ ...tool, description: maskText(description), inputSchema: mapStrings(inputSchema, maskText) });
    if (chars < CHARS_PER_TURN) continue;
    chars = 0;
    await nextTurn();
  }
  return masked;
}
