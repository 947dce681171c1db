/** Workers that their people have published as tools: each runs its worker with the caller's rights. */
import type { ApiClient } from '@gantry/http';
import type { SurfaceSchemas } from '@gantry/openapi';
import type { Tool as DescribedTool } from '@modelcontextprotocol/server';
import { PUBLISHED, RUN_HINTS, type Tool } from './tool';
import { TOOLS } from './tools';

/** As `GET /api/mcp-tools` has it. */
export type PublishedTool = Required<
  Pick<SurfaceSchemas<'worker'>['McpTool'], 'name' | 'description' | 'input_schema' | 'worker_id'>
>;

/** A published worker is run as `run_worker` runs one. */
export const RUN_PUBLISHED: Tool = { ...(TOOLS.find(({ name }) => name === 'run_worker') as Tool), toolset: PUBLISHED };

/** @returns those whose workers the caller sees. @throws Error if the list is refused, such as beyond a rate limit */
export async function fetchPublishedTools(client: ApiClient, signal: AbortSignal): Promise<PublishedTool[]> {
  const { status, body } = await client({
    surface: 'worker',
    method: 'GET',
    path: '/api/mcp-tools?source=worker&limit=200',
    signal,
  });
  if (status !== 200) throw new Error(`could not fetch the published workers: HTTP ${status}`);
  return body as PublishedTool[];
}

/** @param runSchema of what it answers: the run */
export const describePublishedTool = (
  { name, description, input_schema: schema }: PublishedTool,
  runSchema: NonNullable<DescribedTool['outputSchema']>,
): DescribedTool => ({
  name,
  description,
  inputSchema: { ...schema, type: 'object' },
  outputSchema: runSchema,
  annotations: RUN_HINTS,
});
