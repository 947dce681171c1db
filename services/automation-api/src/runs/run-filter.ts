/** Builds the filter of a list of runs. */
import type { OperationCall } from '@gantry/http';
import type { PagedRunFilter } from '@gantry/run-engine';
import { findAutomationIds } from '../automations/automation-repository';
import { toEngineStatuses } from '../automations/run-status';
import type { Deps } from '../deps';

type RunQuery = OperationCall<'automation', 'listRuns'>['query'];

/**
 * Excludes test runs.
 * @param visibleIds ids of the automations that the caller may see; null: all
 */
export async function toRunFilter(
  { prisma }: Deps,
  workspaceId: string,
  query: RunQuery,
  visibleIds: string[] | null,
): Promise<PagedRunFilter> {
  const { automationId, status, trigger, q, since, until } = query;
  const matchingIds = q === undefined ? undefined : new Set(await findAutomationIds(prisma, workspaceId, q));
  const allowedIds = visibleIds
    ? visibleIds.filter((id) => matchingIds?.has(id) ?? true)
    : matchingIds && [...matchingIds];
  const ids = automationId === undefined ? allowedIds : [automationId].filter((id) => allowedIds?.includes(id) ?? true);
  return {
    kind: 'run',
    statuses: status ? toEngineStatuses(status) : [],
    hidden: [],
    triggerIndexed: false,
    ...(ids && { subjectIds: ids }),
    ...(trigger && { trigger }),
    ...(since !== undefined && { since: new Date(since) }),
    ...(until !== undefined && { until: new Date(until) }),
  };
}
