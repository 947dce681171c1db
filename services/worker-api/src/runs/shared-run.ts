/**
 * Reduces a run to what the holder of a share link may see: how it went, what it printed and what it returned. Inputs,
 * results of steps, what approvals asked, who did something and the contents of files stay inside.
 */
import { toApiFields } from '@gantry/http';
import { loadRunDetails, type Run, type StreamFormat } from '@gantry/run-engine';
import { listRunApprovals } from '../approvals/approval-repository';
import { runSummaryToApi } from './run';
import type { RunDeps } from './run-deps';
import { loadRunOutput } from './run-output';
import type { ResolvedShareLink } from './share-link-repository';

export async function toSharedRun(deps: RunDeps, run: Run, { worker, expiresAt }: ResolvedShareLink) {
  const { engine, pool, prisma, runnables } = deps;
  const [output, artifacts, extras, approvals, { definition }] = await Promise.all([
    loadRunOutput(engine, run),
    engine.artifacts(run),
    loadRunDetails(pool, run),
    listRunApprovals(prisma, run.workspaceId, run.id),
    runnables.get(pool, worker.uid, run.version ?? worker.currentVersion),
  ]);
  const head = runSummaryToApi(run);
  return {
    worker_name: worker.name,
    ...toApiFields(head, 'worker_version', 'status', 'error', 'error_code'),
    ...toApiFields(head, 'created_at', 'started_at', 'completed_at', 'duration_ms'),
    waiting_for: head.waiting_for && { kind: head.waiting_for.kind, until: head.waiting_for.until },
    error_type: run.error?.type ?? null,
    outputs: definition.outputs,
    ...output,
    steps: extras.steps.map((step) =>
      toApiFields(step, 'ordinal', 'kind', 'name', 'status', 'error', 'startedAt', 'finishedAt'),
    ),
    approvals: approvals.map((approval) => toApiFields(approval, 'status', 'title', 'requestedAt', 'decidedAt')),
    artifacts: artifacts.map((artifact) => toApiFields(artifact, 'id', 'name', 'contentType', 'size')),
    expires_at: expiresAt.toISOString(),
  };
}

type EventData = Record<string, unknown>;

const pickFields =
  (...names: string[]) =>
  (data: EventData): EventData =>
    Object.fromEntries(names.flatMap((name) => (name in data ? [[name, data[name]]] : [])));

/** No id of another run. */
const toPublicStatus = ({ waiting_for, ...data }: EventData): EventData => {
  const { kind, until } = (waiting_for ?? {}) as EventData;
  return {
    ...pickFields('status')(data),
    ...(waiting_for !== undefined && { waiting_for: waiting_for && { kind, until } }),
  };
};

export const sharedEventFormat: StreamFormat = {
  name: 'shared',
  of: {
    status: toPublicStatus,
    done: toPublicStatus,
    log: pickFields('stream', 'level', 'text', 'fields'),
    progress: pickFields('fraction', 'message'),
    step: pickFields('ordinal', 'kind', 'name'),
    artifact: pickFields('artifact_id', 'name', 'content_type', 'size'),
  },
  others: 'left out',
};
