/**
 * Starts the workers that wait for what happened, once for each event.
 *
 * The runs commit with the event's inbox row: one that is delivered again starts nothing. Each worker has a savepoint
 * of its own, so that what is wrong with one keeps nothing from the others; a run that can't begin for a reason of its
 * worker is kept as a failed one, any other failure is said in the log. A circle of workers that start each other ends
 * at DEPTH_MAX.
 */

import type { alertRaised, approvalRequested, EventHandlerFor, runFinished, scheduleMissed } from '@gantry/events';
import type { Sql } from '@gantry/postgres';
import { getRunDepth } from '@gantry/run-engine';
import type { PoolClient } from 'pg';
import { hasEventTrigger, type TriggerEvent } from '../../triggers/event/event-trigger';
import type { ListeningWorkspaces } from '../../triggers/event/listening-workspaces';
import { type EventSource, listAwaitingWorkers } from '../../workers/triggered-workers';
import { findWorkerSummary } from '../../workers/worker-queries';
import { isUnavailableError, startUnattendedRun } from '../start-or-refuse';
import type { TriggerStartDeps } from '../trigger-start-deps';
import {
  buildAlertRaisedEvent,
  buildApprovalRequestedEvent,
  buildRunFinishedEvent,
  buildScheduleMissedEvent,
  findRunTriggerEvent,
  type TriggeringEvent,
} from './event';

const DEPTH_MAX = 8;

export interface TriggerEventHandlers {
  runFinished: EventHandlerFor<typeof runFinished>;
  alertRaised: EventHandlerFor<typeof alertRaised>;
  approvalRequested: EventHandlerFor<typeof approvalRequested>;
  scheduleMissed: EventHandlerFor<typeof scheduleMissed>;
}

export function createTriggerEventHandlers(
  deps: TriggerStartDeps,
  listening: ListeningWorkspaces,
): TriggerEventHandlers {
  const { pool } = deps;
  const name = 'triggers';
  const createTriggerFilter = (type: TriggerEvent) => (_data: unknown, workspaceId: string) =>
    hasEventTrigger(pool, workspaceId, type);
  const startWorkers = (tx: PoolClient, event: TriggeringEvent) => startSubscribedWorkers(deps, tx, event);
  return {
    runFinished: {
      name,
      wants: async (data, workspaceId) => {
        const type = findRunTriggerEvent(data);
        return type !== null && (await listening.includes(workspaceId)) && hasEventTrigger(pool, workspaceId, type);
      },
      handle: async (tx, received) => {
        const type = findRunTriggerEvent(received.data);
        if (type) await startWorkers(tx, buildRunFinishedEvent(type, received));
      },
    },
    alertRaised: {
      name,
      wants: createTriggerFilter('alert.raised'),
      handle: async (tx, received) => {
        const { subjectId: id } = received.data;
        const worker = id === null ? undefined : await findWorkerSummary(tx, received.workspaceId, { id });
        await startWorkers(tx, buildAlertRaisedEvent(received, worker !== undefined));
      },
    },
    approvalRequested: {
      name,
      wants: createTriggerFilter('approval.requested'),
      handle: async (tx, received) => {
        await startWorkers(tx, buildApprovalRequestedEvent(received, await getRunDepth(tx, received.data.runId)));
      },
    },
    scheduleMissed: {
      name,
      wants: createTriggerFilter('schedule.missed'),
      handle: (tx, received) => startWorkers(tx, buildScheduleMissedEvent(received)),
    },
  };
}

async function startSubscribedWorkers(deps: TriggerStartDeps, tx: PoolClient, event: TriggeringEvent) {
  const source = await findEventSource(tx, event);
  if (!source) return;
  const workers = await listAwaitingWorkers(tx, event, source);
  if (workers.length && event.depth >= DEPTH_MAX) {
    const workerIds = workers.map(({ id }) => id);
    deps.log.warn({ workspaceId: event.workspaceId, workerIds, type: event.type }, 'stopped a circular event chain');
    return;
  }
  const inputs = { event: buildEventInput(event, source) };
  for (const worker of workers) {
    try {
      // Each has a savepoint of its own. An event that can't be dealt with now comes again.
      await startUnattendedRun(deps, tx, { worker, inputs, depth: event.depth + 1, trigger: 'event' });
    } catch (err) {
      if (isUnavailableError(err)) throw err;
      deps.log.error(
        { err, workspaceId: worker.workspaceId, workerId: worker.id },
        'failed to start a run for an event',
      );
    }
  }
}

/** Undefined for a worker that is gone for good. */
async function findEventSource(sql: Sql, { workspaceId, about }: TriggeringEvent): Promise<EventSource | undefined> {
  if (about === null) return { uid: null, id: null, isShared: true, ownerId: null };
  if ('automationId' in about) return { uid: null, id: about.automationId, isShared: true, ownerId: null };
  const key = 'workerUid' in about ? { uid: about.workerUid } : { id: about.workerId };
  const worker = await findWorkerSummary(sql, workspaceId, key);
  return worker && { ...worker, isShared: worker.visibility === 'workspace' };
}

function buildEventInput({ type, at, about, details }: TriggeringEvent, source: EventSource) {
  const isAutomation = about !== null && 'automationId' in about;
  return {
    type,
    at: at.toISOString(),
    worker_id: isAutomation ? null : source.id,
    automation_id: isAutomation ? source.id : null,
    ...details,
  };
}
