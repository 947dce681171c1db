/** Lists tools of a run's connections with descriptions and schemas, for a model that chooses among them. */
import type { ToolFailure } from '@gantry/events';
import type { Run } from '@gantry/run-engine';
import { filterAllowedTools, resolveServer } from '../connections/check-connection';
import { McpClientError } from '../connections/mcp-client-types';
import type { Connection } from '../generated/prisma/client';
import { findIntegration } from '../integrations/integrations';
import { isNonDestructive } from './app-tool';
import type { ConnectionToolDeps } from './connection-tool-deps';
import { formatNameSuggestions } from './nearest-names';
import { getUsableConnection } from './run-tools';
import { buildFailure } from './tool-result';

export interface NamedTool {
  name: string;
  /** Untrusted text for an MCP server. */
  description: string;
  inputSchema: Readonly<Record<string, unknown>>;
  /** It may overwrite or delete something. */
  isDestructive: boolean;
}

/** @param tool null: all tools that the connection allows */
export async function listNamedTools(
  deps: ConnectionToolDeps,
  run: Run,
  connectionName: string,
  tool: string | null,
): Promise<NamedTool[] | { failed: ToolFailure }> {
  const found = await getUsableConnection(deps, run, connectionName);
  if ('failed' in found) return found;
  try {
    const all = await loadTools(deps, found.connection);
    if (tool === null) return all;
    const named = all.filter(({ name }) => name === tool);
    if (named.length) return named;
    const names = all.map(({ name }) => name);
    return buildFailure('unknown_tool', `${connectionName} has no tool ${tool}${formatNameSuggestions(tool, names)}`);
  } catch (err) {
    if (!(err instanceof McpClientError)) throw err;
    return buildFailure('unavailable', `${connectionName} cannot be queried: ${err.message}`);
  }
}

async function loadTools(deps: ConnectionToolDeps, connection: Connection): Promise<NamedTool[]> {
  if (connection.kind === 'mcp') {
    const server = await resolveServer(deps, connection);
    const tools = (await deps.mcpClient.knownTools(server, true)) ?? (await deps.mcpClient.listTools(server));
    return filterAllowedTools(connection, tools).map(({ isAdditive: additive, ...tool }) => ({
      ...tool,
      isDestructive: !additive,
    }));
  }
  const integration = await findIntegration(deps, connection.workspaceId, connection.app);
  return (integration?.provider.tools ?? []).map((tool) => ({ ...tool, isDestructive: !isNonDestructive(tool) }));
}
