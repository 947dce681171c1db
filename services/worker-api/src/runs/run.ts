/** A run as the worker surface shows it: one flat object. */
import { apiFields } from '@gantry/http';
import type { RunHead } from '@gantry/run-engine';
import { apiStatus } from '../run-status';

export const runPath = (runId: string): string => `/api/runs/${runId}`;

/** How long it took is known when it has ended. */
export function headToApi(run: RunHead) {
  const { startedAt, finishedAt, error } = run;
  return {
    ...apiFields(run, 'id', 'workspaceId', 'trigger', 'priority', 'parentRunId', 'createdBy', 'createdAt', 'startedAt'),
    worker_id: run.subjectRef ?? run.subjectId,
    worker_version: run.version,
    status: apiStatus(run.status),
    attempt: run.tries,
    cancel_requested: run.cancelRequestedAt !== null,
    waiting_for: waitingFor(run),
    error: error?.message ?? null,
    error_code: error?.code ?? null,
    total_cost_usd: run.costUsd,
    completed_at: finishedAt?.toISOString() ?? null,
    duration_ms: startedAt && finishedAt ? Math.max(0, finishedAt.getTime() - startedAt.getTime()) : null,
  };
}

function waitingFor({ status, suspension, wakeAt }: RunHead) {
  // An approval that was decided already holds nothing up.
  if (status !== 'suspended' || !suspension || suspension.kind === 'approve') return null;
  return {
    kind: suspension.kind,
    until: wakeAt?.toISOString() ?? null,
    run_id: suspension.kind === 'call' ? suspension.runId : null,
  };
}
