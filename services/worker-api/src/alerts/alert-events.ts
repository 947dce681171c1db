/**
 * Raises alerts for events: ended runs of both surfaces, requested approvals, missed schedules, failed
 * connections, refused requests, failed evaluations.
 */
import type {
  approvalRequested,
  connectionFailed,
  EventHandler,
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
  const createWorkerEventHandler = <Data extends WorkerEventData>(
    type: AlertType,
    toOccurrence: (data: Data) => Partial<AlertOccurrence>,
  ): EventHandler<Data> => ({
    name,
    wants: ({ workerUid }, workspaceId) => hasMatchingAlert(pool, { workspaceId, type, about: { workerUid } }),
    handle: async (tx, { id: eventId, workspaceId, at, data }) => {
      const { workerUid, workerId, runId } = data;
      const about = { workerUid };
      const subject = await loadSubject(tx, workspaceId, about, workerId);
      await raiseAndDeliver(tx, {
        workspaceId,
        eventId,
        type,
        about,
        at,
        depth: runId === undefined ? 0 : await getRunDepth(tx, runId),
        occurrence: {
          ...subject,
          ...(runId !== undefined && toRunData(deps, subject, runId)),
          ...toOccurrence(data),
        },
      });
    },
  });
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
    approvalRequested: createWorkerEventHandler('approval.requested', ({ approvalId: id, title, expiresAt }) => ({
      approval: { id, title, expires_at: toIsoTime(expiresAt) },
    })),
    scheduleMissed: createWorkerEventHandler('schedule.missed', ({ missed, since, startedLate }) => ({
      schedule: { missed, since: toIsoTime(since), started_late: startedLate },
    })),
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
    networkRefused: createWorkerEventHandler('network.refused', ({ host, port, reason }) => ({
      request: { host, port, reason },
    })),
    evaluationFailed: createWorkerEventHandler(
      'evaluation.failed',
      ({ workerUid: _, workerId, evaluationId: id, ...found }) => ({
        evaluation: { id, ...found, url: buildEvaluationUrl(deps, workerId, id) },
      }),
    ),
  };
}

interface WorkerEventData {
  workerUid: string;
  workerId: string;
  /** The run that the event is about; absent: it is about the worker. */
  runId?: string;
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
