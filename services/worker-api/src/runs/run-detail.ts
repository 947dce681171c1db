/** Everything about one run. */
import type { Run, RunArtifact, StepRow } from '@gantry/run-engine';
import type { Sql } from '../database';
import type { Deps } from '../deps';
import { headToApi, runPath } from './run';

/** Results of steps up to this size (bytes, as stored) are shown with the run. */
const SHOWN_RESULT_BYTES_MAX = 4_096;
const POSITION_MAX = 1_000;

export async function toRunDetail(deps: Deps, run: Run) {
  const { engine, pool } = deps;
  const [output, artifacts, extras, approvals] = await Promise.all([
    engine.output(run),
    engine.artifacts(run),
    readExtras(pool, run),
    readApprovals(deps, run),
  ]);
  const { error, cpuMs, maxRssBytes, requestId } = run;
  return {
    ...headToApi(run),
    input: run.inputs,
    output,
    error_type: error?.type ?? null,
    error_trace: error?.trace ?? null,
    cpu_ms: cpuMs,
    max_memory_bytes: maxRssBytes,
    request_id: requestId,
    logs_count: extras.logsCount,
    queue_position: run.status === 'queued' ? extras.ahead + 1 : null,
    steps: extras.steps.map(stepToApi),
    approvals,
    artifacts: artifacts.map((artifact) => artifactToApi(run, artifact)),
  };
}

/** One statement each: a run has few of them, and each is found by the run's own key. */
async function readExtras(sql: Sql, run: Run) {
  const { id } = run;
  const [logs, steps, ahead] = await Promise.all([
    sql.query(`SELECT count(*)::int AS count FROM run_events WHERE run_id = $1 AND type = 'log'`, [id]),
    sql.query<StepRow>(
      `SELECT ordinal, kind, name, status, ref, started_at AS "startedAt", finished_at AS "finishedAt",
         CASE WHEN pg_column_size(result) <= ${SHOWN_RESULT_BYTES_MAX} THEN result END AS result
       FROM run_steps WHERE run_id = $1 ORDER BY ordinal`,
      [id],
    ),
    run.status === 'queued' ? placeInQueue(sql, run) : null,
  ]);
  return { logsCount: logs.rows[0].count as number, steps: steps.rows, ahead: (ahead?.rows[0].count ?? 0) as number };
}

/**
 * In the order in which runs are handed out: among those that share the run's slot, else among the workspace's that need
 * none. Looks at the first POSITION_MAX of that order and no further.
 */
function placeInQueue(sql: Sql, { id, workspaceId, slotKey }: Run) {
  const queue = slotKey === null ? 'r.workspace_id = $2 AND r.slot_key IS NULL' : 'r.slot_key = $2';
  return sql.query(
    `SELECT count(*)::int FROM runs mine, (
       SELECT r.priority, r.available_at, r.id FROM runs r WHERE ${queue} AND r.status = 'queued'
       ORDER BY r.priority DESC, r.available_at, r.id LIMIT ${POSITION_MAX}
     ) r
     WHERE mine.id = $1 AND (r.priority > mine.priority
       OR (r.priority = mine.priority AND (r.available_at, r.id) < (mine.available_at, mine.id)))`,
    [id, slotKey ?? workspaceId],
  );
}

const stepToApi = (step: StepRow) => ({
  ordinal: step.ordinal,
  kind: step.kind,
  name: step.name,
  status: step.status,
  result: step.result,
  run_id: step.kind === 'call' ? step.ref : null,
  approval_id: step.kind === 'approve' ? step.ref : null,
  started_at: step.startedAt.toISOString(),
  finished_at: step.finishedAt?.toISOString() ?? null,
});

async function readApprovals({ prisma }: Deps, run: Run) {
  const approvals = await prisma.approval.findMany({
    where: { workspaceId: run.workspaceId, runId: run.id },
    orderBy: [{ requestedAt: 'asc' }, { id: 'asc' }],
  });
  return approvals.map((approval) => ({
    id: approval.id,
    status: approval.status,
    title: approval.title,
    message: approval.message,
    requested_at: approval.requestedAt.toISOString(),
    expires_at: approval.expiresAt.toISOString(),
    decided_at: approval.decidedAt?.toISOString() ?? null,
    decided_by: approval.decidedByLabel ?? approval.decidedBy,
    reason: approval.reason,
  }));
}

const artifactToApi = (run: Run, { id, name, contentType, size, sha256 }: RunArtifact) => ({
  id,
  name,
  content_type: contentType,
  size,
  sha256,
  download_url: `${runPath(run.id)}/artifacts/${id}/download`,
});
