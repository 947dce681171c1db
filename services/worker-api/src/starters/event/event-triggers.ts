/**
 * Starts the workers that wait for what happened, once for each event.
 *
 * The runs commit with the event's inbox row: one that is delivered again starts nothing. Each worker has a savepoint
 * of its own, so that what is wrong with one keeps nothing from the others; a run that can't begin for a reason of its
 * worker is kept as a failed one, any other failure is said in the log. A circle of workers that start each other ends
 * at DEPTH_MAX.
 */

import type { alertRaised, approvalRequested, ReactionTo, runFinished, scheduleMissed } from '@gantry/events';
import type { Sql } from '@gantry/postgres';
import { getRunDepth } from '@gantry/run-engine';
import type { PoolClient } from 'pg';
import { isAwaited, type TriggerEvent } from '../../triggers/event/event-trigger';
import type { ListeningWorkspaces } from '../../triggers/event/listening-workspaces';
import { type EventSource, listAwaitingWorkers } from '../../workers/triggered-workers';
import { findWorkerHead } from '../../workers/worker-queries';
import { isAway, startOrRefuse } from '../start-or-refuse';
import type { StarterDeps } from '../starter-deps';
import {
  ofFinishedRun,
  ofMissedSchedule,
  ofRaisedAlert,
  ofRequestedApproval,
  type TriggeringEvent,
  toRunFinishedEvent,
} from './event';

const DEPTH_MAX = 8;

export interface TriggerReactions {
  runFinished: ReactionTo<typeof runFinished>;
  alertRaised: ReactionTo<typeof alertRaised>;
  approvalRequested: ReactionTo<typeof approvalRequested>;
  scheduleMissed: ReactionTo<typeof scheduleMissed>;
}

export function triggerReactions(deps: StarterDeps, listening: ListeningWorkspaces): TriggerReactions {
  const { pool } = deps;
  const name = 'triggers';
  const createTriggerFilter = (type: TriggerEvent) => (_data: unknown, workspaceId: string) =>
    isAwaited(pool, workspaceId, type);
  const react = (tx: PoolClient, happening: TriggeringEvent) => startAwaitingWorkers(deps, tx, happening);
  return {
    runFinished: {
      name,
      wants: async (data, workspaceId) => {
        const type = toRunFinishedEvent(data);
        return type !== null && (await listening.includes(workspaceId)) && isAwaited(pool, workspaceId, type);
      },
      handle: async (tx, received) => {
        const type = toRunFinishedEvent(received.data);
        if (type) await react(tx, ofFinishedRun(type, received));
      },
    },
    alertRaised: {
      name,
      wants: createTriggerFilter('alert.raised'),
      handle: async (tx, received) => {
        const { subjectId: id } = received.data;
        const worker = id === null ? undefined : await findWorkerHead(tx, received.workspaceId, { id });
        await react(tx, ofRaisedAlert(received, worker !== undefined));
      },
    },
    approvalRequested: {
      name,
      wants: createTriggerFilter('approval.requested'),
      handle: async (tx, received) => {
        await react(tx, ofRequestedApproval(received, await getRunDepth(tx, received.data.runId)));
      },
    },
    scheduleMissed: {
      name,
      wants: createTriggerFilter('schedule.missed'),
      handle: (tx, received) => react(tx, ofMissedSchedule(received)),
    },
  };
}

async function startAwaitingWorkers(deps: StarterDeps, tx: PoolClient, happening: TriggeringEvent) {
  const source = await findSource(tx, happening);
  if (!source) return;
  const workers = await listAwaitingWorkers(tx, happening, source);
  if (workers.length && happening.depth >= DEPTH_MAX) {
    const workerIds = workers.map(({ id }) => id);
    deps.log.warn({ workspaceId: happening.workspaceId, workerIds, type: happening.type }, 'circle of events ended');
    return;
  }
  const inputs = { event: buildEventInput(happening, source) };
  for (const worker of workers) {
    try {
      // Each has a savepoint of its own. An event that can't be dealt with now comes again.
      await startOrRefuse(deps, tx, { worker, inputs, depth: happening.depth + 1, trigger: 'event' });
    } catch (err) {
      if (isAway(err)) throw err;
      deps.log.error({ err, workspaceId: worker.workspaceId, workerId: worker.id }, 'run not started by an event');
    }
  }
}

/** Undefined for a worker that is gone for good. */
async function findSource(sql: Sql, { workspaceId, about }: TriggeringEvent): Promise<EventSource | undefined> {
  if (about === null) return { uid: null, id: null, isShared: true, ownerId: null };
  if ('automationId' in about) return { uid: null, id: about.automationId, isShared: true, ownerId: null };
  const key = 'workerUid' in about ? { uid: about.workerUid } : { id: about.workerId };
  const worker = await findWorkerHead(sql, workspaceId, key);
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
