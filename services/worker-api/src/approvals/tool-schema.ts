/** Looks up the schemas of tools whose calls wait for a person. */
import type { ToolFailure } from '@gantry/events';
import { toInputSchema } from '@gantry/program';
import type { Run } from '@gantry/run-engine';
import { listNamedTools } from '../connection-tools/named-tools';
import { createToolFailure } from '../connection-tools/tool-result';
import { findSharedWorker } from '../workers/worker-queries';
import type { ApprovalDeps } from './approval-deps';
import type { StoredCall } from './held-calls';

export type InputSchema = Readonly<Record<string, unknown>>;

/** Returns the tool's current schema; an MCP server may have to be requested for it. */
export async function findInputSchema(
  deps: ApprovalDeps,
  run: Run,
  { serves, parameters }: Pick<StoredCall, 'serves' | 'parameters'>,
): Promise<{ schema: InputSchema } | { failed: ToolFailure }> {
  if (parameters) return { schema: parameters };
  if (!serves) return { schema: {} };
  if ('worker' in serves) return findWorkerSchema(deps, run, serves.worker);
  const tools = await listNamedTools(deps, run, serves.connection, serves.tool);
  if ('failed' in tools) return tools;
  return { schema: tools[0]?.inputSchema ?? {} };
}

/** Returns schemas by the id of the call; null where the tool cannot be looked up. */
export async function loadInputSchemas(
  deps: ApprovalDeps,
  run: Run,
  calls: StoredCall[],
): Promise<Map<string, InputSchema | null>> {
  const found = await Promise.all(calls.map((call) => findInputSchema(deps, run, call)));
  return new Map(
    calls.map(({ id }, at) => {
      const one = found[at];
      return [id, one && 'schema' in one ? one.schema : null];
    }),
  );
}

async function findWorkerSchema(
  { pool, runnables }: ApprovalDeps,
  { workspaceId }: Run,
  workerId: string,
): Promise<{ schema: InputSchema } | { failed: ToolFailure }> {
  const worker = await findSharedWorker(pool, workspaceId, workerId);
  if (!worker)
    return { failed: createToolFailure('unknown_tool', `there is no worker ${workerId} that a run can call`) };
  const { definition } = await runnables.get(pool, worker.uid, worker.currentVersion);
  return { schema: { ...toInputSchema(definition.inputs) } };
}
