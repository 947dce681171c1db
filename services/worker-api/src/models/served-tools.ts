/**
 * Tools that a question to a model names instead of describing them: of a connection of the run's worker, or another
 * worker.
 */
import type { ToolFailure } from '@gantry/events';
import { toInputSchema } from '@gantry/program';
import type { Run } from '@gantry/run-engine';
import { listNamedTools } from '../connection-tools/named-tools';
import { buildFailure } from '../connection-tools/tool-result';
import { findSharedWorker } from '../workers/worker-queries';
import type { ModelCallRequest, OfferedTool } from './model-call-request';
import type { ModelDeps } from './model-deps';

type RequestedModelTool = NonNullable<ModelCallRequest['tools']>[number];

const OFFERED_MAX = 128;
const NAME_CHARS_MAX = 60;
const DESCRIPTION_CHARS_MAX = 1_500;

/** In the order in which they were named, each with a name of its own. */
export async function listOfferedTools(
  deps: ModelDeps,
  run: Run,
  requestedTools: RequestedModelTool[],
): Promise<OfferedTool[] | { failed: ToolFailure }> {
  const offered: OfferedTool[] = [];
  for (const one of requestedTools) {
    if ('name' in one) {
      offered.push(one);
      continue;
    }
    const found =
      'worker' in one ? await buildWorkerTool(deps, run, one.worker) : await listConnectionTools(deps, run, one);
    if ('failed' in found) return found;
    offered.push(...found);
  }
  if (offered.length <= OFFERED_MAX) return dedupeToolNames(offered);
  const message = `tools: ${offered.length} tools were given, but a model can have at most ${OFFERED_MAX}; name a connection's tools individually`;
  return buildFailure('invalid_arguments', message);
}

async function listConnectionTools(
  deps: ModelDeps,
  run: Run,
  { connection, tool }: { connection: string; tool?: string | null | undefined },
): Promise<OfferedTool[] | { failed: ToolFailure }> {
  const found = await listNamedTools(deps, run, connection, tool ?? null);
  if ('failed' in found) return found;
  return found.map(({ name, description, inputSchema, isDestructive }) => ({
    name: toToolName(`${connection}__${name}`),
    description: description.slice(0, DESCRIPTION_CHARS_MAX),
    parameters: inputSchema,
    serves: { connection, tool: name, destructive: isDestructive },
  }));
}

/** Whether the run may call it is looked at again when it does. */
async function buildWorkerTool(
  { pool, runnables }: ModelDeps,
  { workspaceId, spec }: Run,
  worker: string,
): Promise<OfferedTool[] | { failed: ToolFailure }> {
  if (spec.onlyWorkers?.includes(worker) === false) {
    return buildFailure('not_allowed', `tools: the token that started this run does not allow worker ${worker}`);
  }
  const found = await findSharedWorker(pool, workspaceId, worker);
  if (!found) return buildFailure('unknown_tool', `tools: there is no worker ${worker} that a run can call`);
  const { definition } = await runnables.get(pool, found.uid, found.currentVersion);
  return [
    {
      name: toToolName(`run__${worker}`),
      description: `Runs the worker ${found.name} and waits for its output. ${found.description}`.slice(
        0,
        DESCRIPTION_CHARS_MAX,
      ),
      parameters: { ...toInputSchema(definition.inputs) },
      serves: { worker, destructive: false },
    },
  ];
}

/** Providers take letters, digits, hyphens and underscores. */
const toToolName = (name: string): string => name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, NAME_CHARS_MAX);

function dedupeToolNames(offeredTools: OfferedTool[]): OfferedTool[] {
  const taken = new Set<string>();
  return offeredTools.map((one) => {
    let { name } = one;
    for (let number = 2; taken.has(name); number++) name = `${one.name}_${number}`;
    taken.add(name);
    return { ...one, name };
  });
}
