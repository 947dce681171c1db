/** Caches lists of tools for a while, so that reading them needs no request. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CHARS_PER_TURN, type Redactor } from '@gantry/masking';
import type { Sql } from '@gantry/postgres';
import { listHeaderValues } from '../connections/mask-sent';
import type { McpClient, McpTool } from '../connections/mcp-port';
import type { Masking } from '../secrets/masking';
import { mapTexts } from './checked-tools';
import { acceptTools, findTools, forgetTools, rememberTools } from './tool-list-repository';

/** Remembers every list of the client. @param now the service's clock */
export function rememberingClient(
  client: Pick<McpClient, 'listTools' | 'callTool'>,
  { sql, masking, now }: { sql: Sql; masking: Pick<Masking, 'redactorFor'>; now: () => Date },
): McpClient {
  return {
    async listTools(server) {
      const listed = await client.listTools(server);
      const tools = await maskTools(await masking.redactorFor(listHeaderValues(server.headers)), listed);
      return (await rememberTools(sql, server, tools, now())).tools;
    },
    callTool: client.callTool,
    knownTools: async (server, fresh = false) => (await findTools(sql, server, { fresh, now: now() }))?.tools ?? null,
    acceptTools: async (server) => void (await acceptTools(sql, server)),
    forgetTools: async (server) => void (await forgetTools(sql, server)),
  };
}

/** Every viewer sees descriptions, and models are given them: a server may write into them what it was sent. */
async function maskTools(redactor: Redactor, tools: McpTool[]): Promise<McpTool[]> {
  const masked: McpTool[] = [];
  let chars = 0;
  const text = (transform: string) => {
    chars += transform.length;
    return redactor.text(transform);
  };
  for (const tool of tools) {
    const { description, inputSchema } = tool;
    masked.push({ ...tool, description: text(description), inputSchema: mapTexts(inputSchema, text) });
    if (chars < CHARS_PER_TURN) continue;
    chars = 0;
    await nextTurn();
  }
  return masked;
}
