/** Lists of tools that are kept for a while, so that looking at them asks nobody. */
import { createRedactor } from '@gantry/masking';
import type { Sql } from '@gantry/postgres';
import type { McpClient, McpServer, McpTool } from '../connections/mcp-port';
import { acceptTools, findTools, forgetTools, rememberTools } from './tool-list-repository';

/** Remembers every list of the client. @param now the service's clock */
export function rememberingClient(
  client: Pick<McpClient, 'listTools' | 'callTool'>,
  { sql, now }: { sql: Sql; now: () => Date },
): McpClient {
  return {
    async listTools(server) {
      const tools = withoutSent(server, await client.listTools(server));
      return (await rememberTools(sql, server, tools, now())).tools;
    },
    callTool: client.callTool,
    knownTools: async (server, fresh = false) => (await findTools(sql, server, { fresh, now: now() }))?.tools ?? null,
    acceptTools: async (server) => void (await acceptTools(sql, server)),
    forgetTools: async (server) => void (await forgetTools(sql, server)),
  };
}

/** Shorter ones are words, which would be masked everywhere. */
const SECRET_CHARS_MIN = 8;

/** Every viewer sees descriptions, and models are given them: a server may write into them what it was sent. */
function withoutSent({ headers }: McpServer, tools: McpTool[]): McpTool[] {
  // The value of Authorization is a scheme and a token.
  const sent = Object.values(headers).flatMap((value) => [value, value.replace(/^\S+ /, '')]);
  const { text } = createRedactor(sent.filter(({ length }) => length >= SECRET_CHARS_MIN));
  return tools.map((tool) => ({
    ...tool,
    description: text(tool.description),
    inputSchema: mapTexts(tool.inputSchema, text),
  }));
}

/** Texts of a schema, without the names in it: those are what is called. */
function mapTexts<Value>(value: Value, shown: (text: string) => string): Value {
  const map = (one: unknown): unknown => {
    if (typeof one === 'string') return shown(one);
    if (Array.isArray(one)) return one.map(map);
    if (typeof one !== 'object' || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([key, inner]) => [key, map(inner)]));
  };
  return map(value) as Value;
}
