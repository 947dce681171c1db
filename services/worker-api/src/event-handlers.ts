/** Subscribes the reactions of this service to each event that it consumes. */
import {
  alertRaised,
  approvalRequested,
  auditRecorded,
  type Consumer,
  connectionFailed,
  consumeEvent,
  type EventHandler,
  type EventType,
  evaluationFailed,
  networkRefused,
  rehearsalFinished,
  runFinished,
  scheduleMissed,
  skillChanged,
  skillDeleted,
  skillPublished,
  workerChanged,
  workspacePurged,
} from '@gantry/events';
import type { WorkLoop } from '@gantry/postgres';
import type { z } from 'zod';
import type { AccountDeps } from './accounts/account-deps';
import { createWorkspacePurgeHandler } from './accounts/workspaces/delete-workspace';
import type { AlertDeps } from './alerts/alert-deps';
import { createAlertEventHandlers } from './alerts/alert-events';
import { WORKSPACES_WITH_ALERTS } from './alerts/alert-repository';
import { storeAuditEntry } from './audit/audit-events';
import type { ContextDeps } from './contexts/context-deps';
import { createContextWriteBackHandler } from './contexts/write-back';
import type { EvaluationDeps } from './evaluations/evaluation-deps';
import { createSavedVersionHandler } from './evaluations/evaluation-events';
import { createRehearsalEndHandler } from './rehearsals/rehearsal-events';
import type { RepairDeps } from './repairs/repair-deps';
import { createFailedRunHandler } from './repairs/repair-on-failure';
import { countRun } from './runs/month-cost';
import { createPrepareHandler } from './runs/prepare-version';
import { countTokenRun } from './runs/token-budget';
import { createTriggerEventHandlers } from './starters/event/event-triggers';
import type { TriggerStartDeps } from './starters/trigger-start-deps';
import { WORKSPACES_WITH_TRIGGERS } from './triggers/event/event-trigger';
import { createListeningWorkspaces } from './triggers/event/listening-workspaces';
import { handleSkillChanged, handleSkillDeleted } from './workers/known-skills';
import type { WorkerDeps } from './workers/worker-deps';

type EventHandlerDeps = AlertDeps &
  ContextDeps &
  EvaluationDeps &
  RepairDeps &
  TriggerStartDeps &
  Pick<AccountDeps, 'objects' | 'vault'> &
  Pick<WorkerDeps, 'bus'>;

export function startEventHandlers(deps: EventHandlerDeps, trialLoops: WorkLoop[]): Consumer[] {
  const { bus, pool, log } = deps;
  const listening = createListeningWorkspaces(pool, [WORKSPACES_WITH_ALERTS, WORKSPACES_WITH_TRIGGERS]);
  const alerts = createAlertEventHandlers(deps, listening);
  const triggers = createTriggerEventHandlers(deps, listening);
  const consume = <Data extends z.ZodType>(event: EventType<Data>, ...reactions: EventHandler<z.infer<Data>>[]) =>
    consumeEvent({ bus, pool, service: 'worker-api', log, event, reactions });
  return [
    consume(
      runFinished,
      countRun,
      countTokenRun,
      createContextWriteBackHandler(deps),
      alerts.runFinished,
      triggers.runFinished,
      createFailedRunHandler(deps),
    ),
    consume(rehearsalFinished, createRehearsalEndHandler(trialLoops)),
    consume(workerChanged, createSavedVersionHandler(deps), createPrepareHandler(deps)),
    consume(approvalRequested, alerts.approvalRequested, triggers.approvalRequested),
    consume(scheduleMissed, alerts.scheduleMissed, triggers.scheduleMissed),
    consume(connectionFailed, alerts.connectionFailed),
    consume(networkRefused, alerts.networkRefused),
    consume(evaluationFailed, alerts.evaluationFailed),
    consume(alertRaised, triggers.alertRaised),
    consume(skillPublished, handleSkillChanged),
    consume(skillChanged, handleSkillChanged),
    consume(skillDeleted, handleSkillDeleted),
    consume(auditRecorded, storeAuditEntry),
    consume(workspacePurged, createWorkspacePurgeHandler(deps)),
  ];
}
