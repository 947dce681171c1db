import { type Call, created, noContent, type Operations, respondWithPage } from '@gantry/http';
import { getTokenScope, type Principal } from '@gantry/limits';
import { listCachedServerTools } from '../connections/check-connection';
import { listConnections } from '../connections/connection-repository';
import { toolToApi } from '../integrations/integration-routes';
import { listInputs } from '../workers/worker-queries';
import type { McpToolDeps } from './mcp-tool-deps';
import { publishedToolToApi } from './published-tool';
import { getPublishedTool, listPublishedTools, type ToolWithWorker } from './published-tool-repository';
import { publishTool, unpublishTool } from './published-tool-service';

/** Servers whose tools are listed; each has 1,000 at most. */
const SERVERS_MAX = 100;

export function createMcpToolOperations(deps: McpToolDeps): Operations<'worker'> {
  const { prisma, pool } = deps;

  /** With the inputs of the workers' current versions. */
  async function toolsToApi({ caller }: Pick<Call, 'caller'>, tools: ToolWithWorker[]) {
    const uids = tools.map(({ workerUid }) => workerUid);
    const inputs = await listInputs(pool, caller.workspaceId, uids);
    return tools.map((tool) => publishedToolToApi(tool, inputs.get(tool.workerUid) ?? []));
  }

  async function listConnectionTools(caller: Principal) {
    // A connection is no worker, and in no toolset.
    if (caller.restriction?.toolsets || getTokenScope(caller, 'workers')) return [];
    const page = { limit: SERVERS_MAX, offset: 0 };
    const { connections } = await listConnections(prisma, caller.workspaceId, caller, { kind: 'mcp', ...page });
    const tools = connections.map(async (connection) =>
      (await listCachedServerTools(deps, connection)).map((tool) => ({
        ...toolToApi(tool),
        source: 'connection' as const,
        connection_id: connection.id,
      })),
    );
    return (await Promise.all(tools)).flat();
  }

  async function loadPublishedTool(call: Pick<Call, 'caller'>, name: string) {
    const [described] = await toolsToApi(call, [await getPublishedTool(prisma, call.caller, name)]);
    return created(described);
  }

  return {
    listMcpTools: async (call) => {
      const { source } = call.query;
      const workers =
        source === 'connection' ? [] : await toolsToApi(call, await listPublishedTools(prisma, call.caller));
      const tools = source === 'worker' ? [] : await listConnectionTools(call.caller);
      return respondWithPage(call, [...workers, ...tools], (tool) => tool);
    },
    publishMcpTool: {
      create: async (call) => loadPublishedTool(call, await publishTool(deps, call, call.body)),
      assertVisible: ({ caller }, name) => getPublishedTool(prisma, caller, name),
      answer: loadPublishedTool,
    },
    unpublishMcpTool: async (call) => unpublishTool(deps, call, call.path.name).then(noContent),
  };
}
