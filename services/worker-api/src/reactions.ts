/** Every event that this service hears, and which of its parts react to it. */
import {
  alertRaised,
  approvalRequested,
  auditRecorded,
  type Consumer,
  consumeBy,
  runFinished,
  scheduleMissed,
  workspacePurged,
} from '@gantry/events';
import { alertReactions } from './alerts/alert-events';
import { keepAuditEntry } from './audit/audit-events';
import { writeBackContexts } from './contexts/write-back';
import type { Deps } from './deps';
import { createListeningWorkspaces } from './listening-workspaces';
import { countRunCost } from './runs/month-cost';
import { triggerReactions } from './triggers/event-triggers';
import { purgeWorkspace } from './workspaces/delete-workspace';

export async function startReactions(deps: Deps): Promise<Consumer[]> {
  const { bus, pool, log } = deps;
  const listening = createListeningWorkspaces(pool);
  const alerts = alertReactions(deps, listening);
  const triggers = triggerReactions(deps, listening);
  const shared = { bus, pool, service: 'worker-api', log };
  return [
    await consumeBy({
      ...shared,
      event: runFinished,
      reactions: [countRunCost, writeBackContexts(deps), alerts.runFinished, triggers.runFinished],
    }),
    await consumeBy({
      ...shared,
      event: approvalRequested,
      reactions: [alerts.approvalRequested, triggers.approvalRequested],
    }),
    await consumeBy({ ...shared, event: scheduleMissed, reactions: [alerts.scheduleMissed, triggers.scheduleMissed] }),
    await consumeBy({ ...shared, event: alertRaised, reactions: [triggers.alertRaised] }),
    await consumeBy({ ...shared, event: auditRecorded, reactions: [keepAuditEntry] }),
    await consumeBy({ ...shared, event: workspacePurged, reactions: [purgeWorkspace(deps)] }),
  ];
}
