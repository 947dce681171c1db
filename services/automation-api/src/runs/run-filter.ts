/** Builds the filter of a list of runs. */
import type { CallOf } from '@gantry/http';
import type { PagedRunFilter } from '@gantry/run-engine';
import { findAutomationIds } from '../automations/automation-repository';
import type { Deps } from '../deps';
import { engineStatuses } from '../run-status';

type Asked = CallOf<'automation', 'listRuns'>['query'];

/**
 * Excludes test runs.
 * @param visibleIds ids of the automations that the caller may see; null: all
 */
export async function runFilterOf(
  { prisma }: Deps,
  workspaceId: string,
  asked: Asked,
  reach: string[] | null,
): Promise<PagedRunFilter> {
  const { automationId, status, trigger, q, since, until } = asked;
  const found = q === undefined ? undefined : new Set(await findAutomationIds(prisma, workspaceId, q));
  const named = reach ? reach.filter((id) => found?.has(id) ?? true) : found && [...found];
  const ids = automationId === undefined ? named : [automationId].filter((id) => named?.includes(id) ?? true);
  return {
    kind: 'run',
    statuses: status ? engineStatuses(status) : [],
    hidden: [],
    triggerIndexed: false,
    ...(ids && { subjectIds: ids }),
    ...(trigger && { trigger }),
    ...(since !== undefined && { since: new Date(since) }),
    ...(until !== undefined && { until: new Date(until) }),
  };
}
