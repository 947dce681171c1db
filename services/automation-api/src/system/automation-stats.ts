/** Statistics of automations for the overview of a workspace, requested by worker-api. */
import {
  AUTOMATION_STATS_SUBJECT,
  type AutomationStats,
  type Bus,
  encode,
  listen,
  systemStatsRequest,
} from '@gantry/events';
import { COUNTED_MAX, loadLastOutcomes, type RunEngine } from '@gantry/run-engine';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { countAutomations, listNewestAutomations } from '../automations/automation-queries';

/** Failing automations are counted among the newest ones, by the last runs of each. */
const AUTOMATIONS_SAMPLED_MAX = 500;
const RUNS_SAMPLED_MAX = 20;

export async function loadAutomationStats(
  { pool, engine }: { pool: Pool; engine: RunEngine },
  workspaceId: string,
): Promise<AutomationStats> {
  const [counts, failing, runs] = await Promise.all([
    countAutomations(pool, workspaceId, COUNTED_MAX + 1),
    countFailingAutomations(pool, workspaceId),
    engine.counts(workspaceId),
  ]);
  const { total, active } = counts;
  const queued = runs.queued + runs.suspended;
  return { total, active, failing, queued, running: runs.running };
}

async function countFailingAutomations(pool: Pool, workspaceId: string): Promise<number> {
  const newest = await listNewestAutomations(pool, workspaceId, AUTOMATIONS_SAMPLED_MAX);
  const outcomes = await loadLastOutcomes(pool, newest, { seenAt: RUNS_SAMPLED_MAX });
  return [...outcomes.values()].filter(({ ended }) => ended && ended.status !== 'completed').length;
}

/** Serves the statistics. Sends no reply if they cannot be read; the overview then omits them. */
export function serveAutomationStats(options: { bus: Bus; pool: Pool; engine: RunEngine; log: Logger }): {
  stop(): void;
} {
  const { bus, log } = options;
  const subscription = listen(
    bus,
    AUTOMATION_STATS_SUBJECT,
    systemStatsRequest,
    async ({ workspaceId }, message) => {
      message.respond(encode(await loadAutomationStats(options, workspaceId)));
    },
    { queue: 'automation-api', log },
  );
  return { stop: () => subscription.unsubscribe() };
}
