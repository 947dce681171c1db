/** Subscribes the reactions of this service to each event that it consumes. */
import {
  alertRaised,
  approvalRequested,
  auditRecorded,
  type Consumer,
  connectionFailed,
  consumeEvent,
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
import type { AccountDeps } from './accounts/account-deps';
import { purgeWorkspace } from './accounts/workspaces/delete-workspace';
import type { AlertDeps } from './alerts/alert-deps';
import { alertReactions } from './alerts/alert-events';
import { ALERTS_LISTENING } from './alerts/alert-repository';
import { storeAuditEntry } from './audit/audit-events';
import { settleRehearsedCases } from './candidates/candidate-events';
import type { ContextDeps } from './contexts/context-deps';
import { writeBackContexts } from './contexts/write-back';
import type { EvaluationDeps } from './evaluations/evaluation-deps';
import { evaluationReactions } from './evaluations/evaluation-events';
import type { RepairDeps } from './repairs/repair-deps';
import { createRepairOnFailure } from './repairs/repair-on-failure';
import { countRun } from './runs/month-cost';
import { createPrepareReaction } from './runs/prepare-version';
import { countTokenRun } from './runs/token-budget';
import { triggerReactions } from './starters/event/event-triggers';
import type { StarterDeps } from './starters/starter-deps';
import { TRIGGERS_LISTENING } from './triggers/event/event-trigger';
import { createListeningWorkspaces } from './triggers/event/listening-workspaces';
import { forgetSkill, keepSkill } from './workers/known-skills';
import type { WorkerDeps } from './workers/worker-deps';

type ReactionDeps = AlertDeps &
  ContextDeps &
  EvaluationDeps &
  RepairDeps &
  StarterDeps &
  Pick<AccountDeps, 'objects' | 'vault'> &
  Pick<WorkerDeps, 'bus'>;

export function startReactions(deps: ReactionDeps): Consumer[] {
  const { bus, pool, log } = deps;
  const listening = createListeningWorkspaces(pool, [ALERTS_LISTENING, TRIGGERS_LISTENING]);
  const alerts = alertReactions(deps, listening);
  const triggers = triggerReactions(deps, listening);
  const evaluations = evaluationReactions(deps);
  const shared = { bus, pool, service: 'worker-api' as const, log };
  return [
    consumeEvent({
      ...shared,
      event: runFinished,
      reactions: [
        countRun,
        countTokenRun,
        writeBackContexts(deps),
        alerts.runFinished,
        triggers.runFinished,
        createRepairOnFailure(deps),
      ],
    }),
    consumeEvent({
      ...shared,
      event: rehearsalFinished,
      reactions: [settleRehearsedCases(deps), evaluations.rehearsalFinished],
    }),
    consumeEvent({
      ...shared,
      event: workerChanged,
      reactions: [evaluations.workerChanged, createPrepareReaction(deps)],
    }),
    consumeEvent({
      ...shared,
      event: approvalRequested,
      reactions: [alerts.approvalRequested, triggers.approvalRequested],
    }),
    consumeEvent({ ...shared, event: scheduleMissed, reactions: [alerts.scheduleMissed, triggers.scheduleMissed] }),
    consumeEvent({ ...shared, event: connectionFailed, reactions: [alerts.connectionFailed] }),
    consumeEvent({ ...shared, event: networkRefused, reactions: [alerts.networkRefused] }),
    consumeEvent({ ...shared, event: evaluationFailed, reactions: [alerts.evaluationFailed] }),
    consumeEvent({ ...shared, event: alertRaised, reactions: [triggers.alertRaised] }),
    consumeEvent({ ...shared, event: skillPublished, reactions: [keepSkill] }),
    consumeEvent({ ...shared, event: skillChanged, reactions: [keepSkill] }),
    consumeEvent({ ...shared, event: skillDeleted, reactions: [forgetSkill] }),
    consumeEvent({ ...shared, event: auditRecorded, reactions: [storeAuditEntry] }),
    consumeEvent({ ...shared, event: workspacePurged, reactions: [purgeWorkspace(deps)] }),
  ];
}
