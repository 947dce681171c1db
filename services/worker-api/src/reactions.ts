/** Every event that this service hears, and which of its parts react to it. */
import {
  alertRaised,
  approvalRequested,
  auditRecorded,
  type Consumer,
  connectionFailed,
  consumeBy,
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
import { purgeWorkspace } from './accounts/workspaces/delete-workspace';
import { alertReactions } from './alerts/alert-events';
import { keepAuditEntry } from './audit/audit-events';
import { noticeRehearsals } from './candidates/candidate-events';
import { writeBackContexts } from './contexts/write-back';
import type { Deps } from './deps';
import { evaluationReactions } from './evaluations/evaluation-events';
import { createListeningWorkspaces } from './listening-workspaces';
import { repairOnFailure } from './repairs/repair-on-failure';
import { countRun } from './runs/month-cost';
import { countTokenRun } from './runs/token-budget';
import { triggerReactions } from './starters/event-triggers';
import { forgetSkill, keepSkill } from './workers/known-skills';

export function startReactions(deps: Deps): Consumer[] {
  const { bus, pool, log } = deps;
  const listening = createListeningWorkspaces(pool);
  const alerts = alertReactions(deps, listening);
  const triggers = triggerReactions(deps, listening);
  const evaluations = evaluationReactions(deps);
  const shared = { bus, pool, service: 'worker-api' as const, log };
  return [
    consumeBy({
      ...shared,
      event: runFinished,
      reactions: [
        countRun,
        countTokenRun,
        writeBackContexts(deps),
        alerts.runFinished,
        triggers.runFinished,
        repairOnFailure(deps),
      ],
    }),
    consumeBy({
      ...shared,
      event: rehearsalFinished,
      reactions: [noticeRehearsals(deps), evaluations.rehearsalFinished],
    }),
    consumeBy({ ...shared, event: workerChanged, reactions: [evaluations.workerChanged] }),
    consumeBy({
      ...shared,
      event: approvalRequested,
      reactions: [alerts.approvalRequested, triggers.approvalRequested],
    }),
    consumeBy({ ...shared, event: scheduleMissed, reactions: [alerts.scheduleMissed, triggers.scheduleMissed] }),
    consumeBy({ ...shared, event: connectionFailed, reactions: [alerts.connectionFailed] }),
    consumeBy({ ...shared, event: networkRefused, reactions: [alerts.networkRefused] }),
    consumeBy({ ...shared, event: evaluationFailed, reactions: [alerts.evaluationFailed] }),
    consumeBy({ ...shared, event: alertRaised, reactions: [triggers.alertRaised] }),
    consumeBy({ ...shared, event: skillPublished, reactions: [keepSkill] }),
    consumeBy({ ...shared, event: skillChanged, reactions: [keepSkill] }),
    consumeBy({ ...shared, event: skillDeleted, reactions: [forgetSkill] }),
    consumeBy({ ...shared, event: auditRecorded, reactions: [keepAuditEntry] }),
    consumeBy({ ...shared, event: workspacePurged, reactions: [purgeWorkspace(deps)] }),
  ];
}
