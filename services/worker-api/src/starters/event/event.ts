/** Events of a workspace as event triggers hear them: the same for both surfaces and all kinds of events. */
import type { alertRaised, approvalRequested, ReceivedEvent, runFinished, scheduleMissed } from '@gantry/events';
import { toApiFields } from '@gantry/http';
import type { z } from 'zod';
import { type TriggerEvent, triggerEvents } from '../../triggers/event/event-trigger';

export interface TriggeringEvent {
  type: TriggerEvent;
  workspaceId: string;
  at: Date;
  /** Its subject: a worker by uid or slug, an automation by id; null: none in particular. */
  about: { workerUid: string } | { workerId: string } | { automationId: string } | null;
  /** Number of runs that led to it by events and calls. */
  depth: number;
  /** Facts about it that a run is told, beside type and time. */
  details: Record<string, unknown>;
}

type EventData<T extends { data: z.ZodType }> = ReceivedEvent<z.infer<T['data']>>;

/** Null where no trigger can wait for it: a rejected run. */
export function findRunTriggerEvent({ status }: z.infer<typeof runFinished.data>): TriggerEvent | null {
  return triggerEvents.find((type) => type === `run.${status}`) ?? null;
}

export function buildRunFinishedEvent(
  type: TriggerEvent,
  { workspaceId, data }: EventData<typeof runFinished>,
): TriggeringEvent {
  const isWorker = data.source === 'worker';
  return {
    type,
    workspaceId,
    at: new Date(data.finishedAt),
    depth: data.depth ?? 0,
    about: isWorker ? { workerUid: data.subjectId } : { automationId: data.subjectId },
    details: {
      ...toApiFields(data, 'runId', 'status', 'errorCode', 'durationMs'),
      trigger: data.trigger ?? null,
      error: data.errorMessage ?? null,
      cost_usd: data.costUsd ?? null,
    },
  };
}

/** A subject is the slug of a worker or the id of an automation; a worker has the slug if there is one. */
export function buildAlertRaisedEvent(
  { workspaceId, at, data }: EventData<typeof alertRaised>,
  isWorker: boolean,
): TriggeringEvent {
  const { subjectId } = data;
  return {
    type: 'alert.raised',
    workspaceId,
    at,
    depth: data.depth ?? 0,
    about: subjectId === null ? null : isWorker ? { workerId: subjectId } : { automationId: subjectId },
    details: { alert_id: data.alertId, raised_for: data.type, run_id: data.runId },
  };
}

export function buildApprovalRequestedEvent(
  { workspaceId, at, data }: EventData<typeof approvalRequested>,
  depth: number,
): TriggeringEvent {
  return {
    type: 'approval.requested',
    workspaceId,
    at,
    depth,
    about: { workerUid: data.workerUid },
    details: {
      approval_id: data.approvalId,
      run_id: data.runId,
      title: data.title,
      expires_at: new Date(data.expiresAt).toISOString(),
    },
  };
}

export function buildScheduleMissedEvent({ workspaceId, at, data }: EventData<typeof scheduleMissed>): TriggeringEvent {
  return {
    type: 'schedule.missed',
    workspaceId,
    at,
    depth: 0,
    about: { workerUid: data.workerUid },
    details: { missed: data.missed, since: new Date(data.since).toISOString(), started_late: data.startedLate },
  };
}
