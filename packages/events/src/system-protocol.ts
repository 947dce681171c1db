/** Requests between services for an overview of a workspace. Request/reply, queue group of the replicas. */
import { z } from 'zod';

/** Answered by automation-api: systemStatsRequest -> AutomationStats. */
export const AUTOMATION_STATS_SUBJECT = 'system.stats.automation';

export const systemStatsRequest = z.object({ workspaceId: z.string() });

/** Each number is capped at COUNTED_MAX + 1 of packages/run-engine, which means "more". */
export const automationStats = z.object({
  total: z.int(),
  active: z.int(),
  /** Active ones whose last run to reach its own end failed. */
  failing: z.int(),
  queued: z.int(),
  running: z.int(),
});
export type AutomationStats = z.infer<typeof automationStats>;
