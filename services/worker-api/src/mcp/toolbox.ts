/** Offers the tools of `/mcp` to callers without the protocol: one table, and one path to the API. */
import type { ApiClient } from '@gantry/http';
import type { Principal } from '@gantry/limits';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { callTool } from './call-tool';
import { buildOutputSchema, describeTool, isOffered } from './offered-tools';
import { createShapeResolver, type Json } from './operation-schemas';
import { describePublishedTool, fetchPublishedTools, RUN_PUBLISHED } from './published-tools';
import type { Tool } from './tool';
import { TOOLS } from './tools';

export interface OfferedTool {
  name: string;
  title: string;
  description: string;
  inputSchema: Json;
  /**
   * Whether a person decides before it is called: it changes what exists, lets code run, or shows something to others.
   */
  asksFirst: (given: Json) => boolean;
  /** The worker that its people have published. */
  workerId: string | null;
}

export interface ToolResult {
  isError: boolean;
  text: string;
  /** A JSON response. */
  structured: Json | undefined;
}

export type Toolbox = ReturnType<typeof createToolbox>;

/** The schemas are made once; nothing of a caller is kept. */
export function createToolbox() {
  const shapeOf = createShapeResolver();
  const runSchema = buildOutputSchema(RUN_PUBLISHED, shapeOf);
  const toOfferedTool = (tool: Tool): OfferedTool => {
    const { inputSchema, description = '' } = describeTool(tool, shapeOf);
    const { name, title, hints } = tool;
    const asksFirst = tool.asksFirst ?? (() => hints.destructiveHint);
    return { name, title, description, inputSchema, asksFirst, workerId: null };
  };
  const offered = new Map(TOOLS.map((tool) => [tool.name, { tool, described: toOfferedTool(tool) }]));
  return {
    /** Lists the tools for this credential, published workers included. @throws Error where those cannot be read */
    async list(
      client: ApiClient,
      restriction: Principal['restriction'],
      signal: AbortSignal,
    ): Promise<Map<string, OfferedTool>> {
      const own = [...offered.values()].filter(({ tool }) => isOffered(tool, restriction));
      const published = isOffered(RUN_PUBLISHED, restriction) ? await fetchPublishedTools(client, signal) : [];
      return new Map([
        ...published.map((worker): [string, OfferedTool] => {
          const { name, description: said = '', inputSchema } = describePublishedTool(worker, runSchema);
          const title = `Run ${worker.worker_id}`;
          const description = `Runs the worker ${worker.worker_id} with the given inputs. Description from its maintainers: ${said}`;
          return [name, { name, title, description, inputSchema, asksFirst: () => true, workerId: worker.worker_id }];
        }),
        ...own.map(({ described }): [string, OfferedTool] => [described.name, described]),
      ]);
    },
    /** @param workerId of a published worker */
    async call(
      { name, workerId, given }: { name: string; workerId: string | null; given: Json },
      client: ApiClient,
      signal: AbortSignal,
    ): Promise<ToolResult> {
      const tool = workerId === null ? offered.get(name)?.tool : RUN_PUBLISHED;
      if (!tool) return { isError: true, text: `there is no tool ${name}`, structured: undefined };
      // No person is asked, so it ends with a result.
      const { content, structuredContent, isError } = (await callTool({
        tool,
        client,
        signal,
        shapeOf: (operationId) => shapeOf(tool.surface, operationId),
        toolArguments: workerId === null ? given : { worker_id: workerId, inputs: given },
        asking: null,
        progress: async () => {},
      })) as CallToolResult;
      const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
      return { isError: isError === true, text, structured: structuredContent as Json | undefined };
    },
  };
}
