/** Everything about one run. */
import { toApiFields } from '@gantry/http';
import { loadRunDetails, type Run, type RunArtifact, type StepView } from '@gantry/run-engine';
import { formatTraceUrl } from '@gantry/tracing';
import { listRunApprovals } from '../approvals/approval-repository';
import { callsToApi } from '../approvals/held-calls';
import { sandboxToApi } from '../workers/used-sandbox';
import { buildRunPath, runSummaryToApi } from './run';
import type { RunDeps } from './run-deps';
import { loadRunOutput } from './run-output';

export async function loadRunDetail(deps: RunDeps, run: Run) {
  const { engine, pool } = deps;
  const [output, artifacts, extras, approvals, repairId, conversationId] = await Promise.all([
    loadRunOutput(engine, run),
    engine.artifacts(run),
    loadRunDetails(pool, run),
    loadRunApprovals(deps, run),
    findRepairId(deps, run),
    // Only agents have conversations.
    run.spec.agent && deps.findConversationOfRun(pool, run.workspaceId, run.id),
  ]);
  const { error, maxRssBytes, sandbox } = run;
  const trace = formatTraceUrl(deps.traceUrlTemplate, run.traceparent);
  return {
    ...runSummaryToApi(run),
    input: run.inputs,
    ...output,
    error_type: error?.type ?? null,
    error_trace: error?.trace ?? null,
    ...toApiFields(run, 'cpuMs', 'requestId'),
    max_memory_bytes: maxRssBytes,
    sandbox: sandboxToApi(sandbox),
    ...(trace && { trace_url: trace }),
    ...toApiFields(extras, 'logsCount', 'requestsCount', 'queuePosition'),
    repair_id: repairId,
    conversation_id: conversationId ?? null,
    steps: extras.steps.map((step) => stepToApi(step, approvals)),
    approvals,
    artifacts: artifacts.map((artifact) => artifactToApi(run, artifact)),
  };
}

const stepToApi = (step: StepView, approvals: RunApproval[]) => ({
  ...toApiFields(step, 'ordinal', 'kind', 'name', 'status', 'error', 'startedAt', 'finishedAt'),
  result: toVisibleResult(step, approvals),
  run_id: step.kind === 'call' ? step.ref : null,
  approval_id: step.kind === 'approve' ? step.ref : null,
});

type RunApproval = Awaited<ReturnType<typeof loadRunApprovals>>[number];

/** The record has corrected arguments as they are used; people see them without the values of secrets. */
export function toVisibleResult(
  { kind, ref, result }: Pick<StepView, 'kind' | 'ref'> & { result?: unknown },
  approvals: RunApproval[],
): unknown {
  const calls = kind === 'approve' ? approvals.find(({ id }) => id === ref)?.calls : null;
  return calls && result ? { ...result, calls: calls.map(({ decision }) => decision) } : result;
}

export async function loadRunApprovals({ prisma }: Pick<RunDeps, 'prisma'>, run: Run) {
  const approvals = await listRunApprovals(prisma, run.workspaceId, run.id);
  return approvals
    .filter(({ candidateId }) => candidateId === null)
    .map((approval) => ({
      ...toApiFields(approval, 'id', 'status', 'title', 'message', 'requestedAt', 'expiresAt', 'decidedAt', 'reason'),
      calls: callsToApi(approval),
      decided_by: approval.decidedByLabel ?? approval.decidedBy,
    }));
}

async function findRepairId({ pool, findRepairOfRun }: RunDeps, { workspaceId, id, status }: Run) {
  if (status !== 'failed' && status !== 'timed_out') return null;
  return (await findRepairOfRun(pool, workspaceId, id))?.id ?? null;
}

const artifactToApi = (run: Run, artifact: RunArtifact) => ({
  ...toApiFields(artifact, 'id', 'name', 'contentType', 'size', 'sha256'),
  download_url: `${buildRunPath(run.id)}/artifacts/${artifact.id}/download`,
});
