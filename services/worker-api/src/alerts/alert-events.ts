/**
 * Raises alerts for events: ended runs of both surfaces, requested approvals, missed schedules, failed
 * connections, refused requests, failed evaluations.
 */
import type {
  approvalRequested,
  connectionFailed,
  EventHandlerFor,
  evaluationFailed,
  networkRefused,
  runFinished,
  scheduleMissed,
} from '@gantry/events';
import { afterCommit } from '@gantry/postgres';
import { getRunDepth } from '@gantry/run-engine';
import type { PoolClient } from 'pg';
import type { z } from 'zod';
import type { ListeningWorkspaces } from '../triggers/event/listening-workspaces';
import { findWorkerSummary } from '../workers/worker-queries';
import type { AlertDeps } from './alert-deps';
import { type AlertOccurrence, buildEvaluationUrl, buildRunUrl, truncateError } from './alert-payload';
import type { AlertType } from './alert-type';
import { hasMatchingAlert, type RaisedEvent, raiseAlerts } from './raise-alerts';

export interface AlertEventHandlers {
  runFinished: EventHandlerFor<typeof runFinished>;
  approvalRequested: EventHandlerFor<typeof approvalRequested>;
  scheduleMissed: EventHandlerFor<typeof scheduleMissed>;
  connectionFailed: EventHandlerFor<typeof connectionFailed>;
  networkRefused: EventHandlerFor<typeof networkRefused>;
  evaluationFailed: EventHandlerFor<typeof evaluationFailed>;
}

export function createAlertEventHandlers(
  deps: AlertDeps,
  listeningWorkspaces: ListeningWorkspaces,
): AlertEventHandlers {
  const { pool, now, deliveryLoop } = deps;
  const name = 'alerts';
  const raiseAndDeliver = async (tx: PoolClient, event: Omit<RaisedEvent, 'now'>) => {
    await raiseAlerts(tx, { ...event, now: now() });
    afterCommit(tx, deliveryLoop.kick);
  };
  const createWorkerAlertFilter =
    (type: AlertType) =>
    ({ workerUid }: { workerUid: string }, workspaceId: string) =>
      hasMatchingAlert(pool, { workspaceId, type, about: { workerUid } });
  return {
    runFinished: {
      name,
      wants: async (run, workspaceId) =>
        (await listeningWorkspaces.includes(workspaceId)) &&
        hasMatchingAlert(pool, { workspaceId, type: toAlertType(run), about: toAlertSubject(run) }),
      handle: async (tx, { id, workspaceId, data: run }) => {
        const about = toAlertSubject(run);
        const subject = await loadSubject(tx, workspaceId, about, run.subjectRef ?? null);
        await raiseAndDeliver(tx, {
          workspaceId,
          eventId: id,
          type: toAlertType(run),
          about,
          depth: run.depth ?? 0,
          at: new Date(run.finishedAt),
          occurrence: {
            ...subject,
            ...toRunData(deps, subject, run.runId),
            status: run.status,
            error: truncateError(run.errorCode, run.errorMessage ?? null),
            trigger: run.trigger ?? null,
            duration_ms: run.durationMs,
            cost_usd: run.costUsd ?? null,
          },
        });
      },
    },
    approvalRequested: {
      name,
      wants: createWorkerAlertFilter('approval.requested'),
      handle: async (tx, { id, workspaceId, at, data }) => {
        const about = { workerUid: data.workerUid };
        const subject = await loadSubject(tx, workspaceId, about, data.workerId);
        const depth = await getRunDepth(tx, data.runId);
        await raiseAndDeliver(tx, {
          workspaceId,
          eventId: id,
          type: 'approval.requested',
          about,
          at,
          depth,
          occurrence: {
            ...subject,
            ...toRunData(deps, subject, data.runId),
            approval: { id: data.approvalId, title: data.title, expires_at: toIsoTime(data.expiresAt) },
          },
        });
      },
    },
    scheduleMissed: {
      name,
      wants: createWorkerAlertFilter('schedule.missed'),
      handle: async (tx, { id, workspaceId, at, data }) => {
        const about = { workerUid: data.workerUid };
        await raiseAndDeliver(tx, {
          workspaceId,
          eventId: id,
          type: 'schedule.missed',
          about,
          at,
          depth: 0,
          occurrence: {
            ...(await loadSubject(tx, workspaceId, about, data.workerId)),
            schedule: { missed: data.missed, since: toIsoTime(data.since), started_late: data.startedLate },
          },
        });
      },
    },
    connectionFailed: {
      name,
      wants: (_, workspaceId) => hasMatchingAlert(pool, { workspaceId, type: 'connection.failed', about: 'workspace' }),
      handle: async (tx, { id, workspaceId, at, data }) => {
        const { connectionId, app, label, status, problem } = data;
        const url = `${deps.dashboardUrl}/connections`;
        await raiseAndDeliver(tx, {
          workspaceId,
          eventId: id,
          type: 'connection.failed',
          about: 'workspace',
          at,
          depth: 0,
          occurrence: {
            worker_id: null,
            worker_name: null,
            automation_id: null,
            connection: { id: connectionId, app, label, status, problem, url },
          },
        });
      },
    },
    networkRefused: {
      name,
      wants: createWorkerAlertFilter('network.refused'),
      handle: async (tx, { id, workspaceId, at, data }) => {
        const { workerUid, workerId, runId, host, port, reason } = data;
        const about = { workerUid };
        const subject = await loadSubject(tx, workspaceId, about, workerId);
        await raiseAndDeliver(tx, {
          workspaceId,
          eventId: id,
          type: 'network.refused',
          about,
          at,
          depth: await getRunDepth(tx, runId),
          occurrence: { ...subject, ...toRunData(deps, subject, runId), request: { host, port, reason } },
        });
      },
    },
    evaluationFailed: {
      name,
      wants: createWorkerAlertFilter('evaluation.failed'),
      handle: async (tx, { id: eventId, workspaceId, at, data }) => {
        const { workerUid, workerId, evaluationId: id, error, ...found } = data;
        const about = { workerUid };
        const url = buildEvaluationUrl(deps, workerId, id);
        await raiseAndDeliver(tx, {
          workspaceId,
          eventId,
          type: 'evaluation.failed',
          about,
          at,
          depth: 0,
          occurrence: {
            ...(await loadSubject(tx, workspaceId, about, workerId)),
            evaluation: { id, ...found, error, url },
          },
        });
      },
    },
  };
}

type FinishedRun = z.infer<typeof runFinished.data>;

const toAlertType = ({ status }: FinishedRun): AlertType => `run.${status}`;

const toAlertSubject = ({ source, subjectId }: FinishedRun) =>
  source === 'worker' ? { workerUid: subjectId } : { automationId: subjectId };

type AlertSubject = Pick<AlertOccurrence, 'worker_id' | 'worker_name' | 'automation_id'>;

/** @param eventWorkerId the worker's name in the event, in case it has been deleted since */
async function loadSubject(
  tx: PoolClient,
  workspaceId: string,
  about: Exclude<RaisedEvent['about'], 'workspace'>,
  eventWorkerId: string | null,
): Promise<AlertSubject> {
  if ('automationId' in about) return { worker_id: null, worker_name: null, automation_id: about.automationId };
  const found = await findWorkerSummary(tx, workspaceId, { uid: about.workerUid });
  const worker = found?.isDeleted ? undefined : found;
  return { worker_id: worker?.id ?? eventWorkerId, worker_name: worker?.name ?? null, automation_id: null };
}

const toRunData = (deps: AlertDeps, subject: AlertSubject, runId: string) => ({
  run_id: runId,
  run_url: buildRunUrl(deps, { automationId: subject.automation_id, runId }),
});

const toIsoTime = (epochMs: number): string => new Date(epochMs).toISOString();
