/** Everything about one run. */
import { apiFields } from '@gantry/http';
import { type Run, type RunArtifact, readExtras, type ShownStep } from '@gantry/run-engine';
import { traceUrl } from '@gantry/tracing';
import type { Deps } from '../deps';
import { headToApi, runPath } from './run';
import { readOutput } from './run-output';

export async function toRunDetail(deps: Deps, run: Run) {
  const { engine, pool } = deps;
  const [output, artifacts, extras, approvals] = await Promise.all([
    readOutput(engine, run),
    engine.artifacts(run),
    readExtras(pool, run),
    readApprovals(deps, run),
  ]);
  const { error, cpuMs, maxRssBytes, requestId } = run;
  const trace = traceUrl(deps.traceUrlTemplate, run.traceparent);
  return {
    ...headToApi(run),
    input: run.inputs,
    ...output,
    error_type: error?.type ?? null,
    error_trace: error?.trace ?? null,
    cpu_ms: cpuMs,
    max_memory_bytes: maxRssBytes,
    request_id: requestId,
    ...(trace && { trace_url: trace }),
    logs_count: extras.logsCount,
    requests_count: extras.requestsCount,
    queue_position: extras.queuePosition,
    steps: extras.steps.map(stepToApi),
    approvals,
    artifacts: artifacts.map((artifact) => artifactToApi(run, artifact)),
  };
}

const stepToApi = (step: ShownStep) => ({
  ...apiFields(step, 'ordinal', 'kind', 'name', 'status', 'result', 'error', 'startedAt', 'finishedAt'),
  run_id: step.kind === 'call' ? step.ref : null,
  approval_id: step.kind === 'approve' ? step.ref : null,
});

async function readApprovals({ prisma }: Deps, run: Run) {
  const approvals = await prisma.approval.findMany({
    where: { workspaceId: run.workspaceId, runId: run.id, candidateId: null },
    orderBy: [{ requestedAt: 'asc' }, { id: 'asc' }],
  });
  return approvals.map((approval) => ({
    ...apiFields(approval, 'id', 'status', 'title', 'message', 'requestedAt', 'expiresAt', 'decidedAt', 'reason'),
    decided_by: approval.decidedByLabel ?? approval.decidedBy,
  }));
}

const artifactToApi = (run: Run, artifact: RunArtifact) => ({
  ...apiFields(artifact, 'id', 'name', 'contentType', 'size', 'sha256'),
  download_url: `${runPath(run.id)}/artifacts/${artifact.id}/download`,
});
