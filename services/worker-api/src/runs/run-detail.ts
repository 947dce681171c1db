/** Everything about one run. */
import { type Run, type RunArtifact, readExtras, type ShownStep } from '@gantry/run-engine';
import type { Deps } from '../deps';
import { headToApi, runPath } from './run';
import { outputOf } from './run-output';

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
    output: outputOf(run, output),
    error_type: error?.type ?? null,
    error_trace: error?.trace ?? null,
    cpu_ms: cpuMs,
    max_memory_bytes: maxRssBytes,
    request_id: requestId,
    logs_count: extras.logsCount,
    queue_position: extras.queuePosition,
    steps: extras.steps.map(stepToApi),
    approvals,
    artifacts: artifacts.map((artifact) => artifactToApi(run, artifact)),
  };
}

const stepToApi = (step: ShownStep) => ({
  ordinal: step.ordinal,
  kind: step.kind,
  name: step.name,
  status: step.status,
  result: step.result,
  error: step.error,
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
