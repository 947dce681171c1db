import { type Call, created, noContent, type Operations, okPage } from '@gantry/http';
import type { Deps } from '../deps';
import { publishedToolToApi } from './published-tool';
import { getPublishedTool, listInputs, listPublishedTools, type ToolWithWorker } from './published-tool-repository';
import { publishTool, withdrawTool } from './published-tool-service';

export function mcpToolOperations(deps: Deps): Operations<'worker'> {
  const { prisma, pool } = deps;

  /** With the inputs of the workers' current versions. */
  async function describe({ caller }: Pick<Call, 'caller'>, tools: ToolWithWorker[]) {
    const uids = tools.map(({ workerUid }) => workerUid);
    const inputs = await listInputs(pool, caller.workspaceId, uids);
    return tools.map((tool) => publishedToolToApi(tool, inputs.get(tool.workerUid) ?? []));
  }

  async function published(call: Pick<Call, 'caller'>, name: string) {
    const [described] = await describe(call, [await getPublishedTool(prisma, call.caller, name)]);
    return created(described);
  }

  return {
    listMcpTools: async (call) => {
      const tools = await describe(call, await listPublishedTools(prisma, call.caller));
      return okPage(call, tools, (tool) => tool);
    },
    publishMcpTool: {
      make: async (call) => published(call, await publishTool(deps, call, call.body)),
      see: ({ caller }, name) => getPublishedTool(prisma, caller, name),
      answer: published,
    },
    unpublishMcpTool: async (call) => withdrawTool(deps, call, call.path.name).then(noContent),
  };
}
