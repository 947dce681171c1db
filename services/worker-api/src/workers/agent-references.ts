/**
 * Models and workers that agents name, and that their runs would not find: both may be removed after a worker was
 * saved.
 */
import { DEFAULT_MODEL } from '@gantry/events';
import type { Sql } from '@gantry/postgres';
import type { AgentFields } from './agent-definition';
import type { WorkerDeps } from './worker-deps';

export interface AgentReferences {
  /** Null: the default. */
  model: string | null;
  /** Ids of the workers that its tools run. */
  workers: string[];
}

export interface ReferenceProblems {
  /** Why no model would answer; null: one would. */
  modelProblem: string | null;
  missingWorkers: string[];
}

export const noReferenceProblems: ReferenceProblems = { modelProblem: null, missingWorkers: [] };

const WORKER_TOOL_PREFIX = 'worker:';

export const listReferences = ({ model, tools }: Pick<AgentFields, 'model' | 'tools'>): AgentReferences => ({
  model: model === DEFAULT_MODEL ? null : model,
  workers: tools.flatMap(({ tool }) =>
    tool.startsWith(WORKER_TOOL_PREFIX) ? [tool.slice(WORKER_TOOL_PREFIX.length)] : [],
  ),
});

/** The rule by which a run finds the workers that its model may call. */
const CALLABLE = `SELECT id FROM workers
  WHERE workspace_id = $1 AND id = ANY($2) AND deleted_at IS NULL AND visibility = 'workspace'`;

async function listCallableWorkers(sql: Sql, workspaceId: string, ids: string[]): Promise<Set<string>> {
  if (!ids.length) return new Set();
  const { rows } = await sql.query<{ id: string }>(CALLABLE, [workspaceId, ids]);
  return new Set(rows.map(({ id }) => id));
}

/** @returns finds the problems of each of the agents, without further queries */
export async function createReferenceChecker(
  { pool, models }: Pick<WorkerDeps, 'pool' | 'models'>,
  workspaceId: string,
  agents: AgentReferences[],
): Promise<(agent: AgentReferences) => ReferenceProblems> {
  if (!agents.length) return () => noReferenceProblems;
  const named = [...new Set(agents.flatMap(({ workers }) => workers))];
  const [registry, callable] = await Promise.all([
    models.recentFor(workspaceId),
    listCallableWorkers(pool, workspaceId, named),
  ]);
  return ({ model, workers }) => ({
    modelProblem: registry.findProblem(model ?? undefined),
    missingWorkers: workers.filter((id) => !callable.has(id)),
  });
}
