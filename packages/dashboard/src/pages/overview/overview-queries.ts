import type { WorkerSchemas } from '@gantry/sdk';
import { api } from '../../shell/api';
import { useWorkspaceQuery } from '../../shell/use-workspace-query';

export type Overview = WorkerSchemas['Overview'];
export type Usage = WorkerSchemas['Usage'];

/** The number of approvals that are listed; the others are counted. */
const APPROVALS_SHOWN = 4;
/** A workspace with more automations sees only the next runs of the newest ones. */
const AUTOMATIONS_LIMIT = 200;

export function useOverview() {
  return useWorkspaceQuery(
    (workspaceId) => ['overview', workspaceId],
    () => api.worker.GET('/api/system/overview'),
  );
}

/** Loads the usage of the current UTC month. */
export function useUsage() {
  const month = new Date().toISOString().slice(0, 7);
  return useWorkspaceQuery(
    (workspaceId) => ['usage', workspaceId, month],
    () => api.worker.GET('/api/usage', { params: { query: { month } } }),
  );
}

/** Loads the newest pending approvals. */
export function useNewestPendingApprovals() {
  return useWorkspaceQuery(
    (workspaceId) => ['approvals', workspaceId, 'newest'],
    () => api.worker.GET('/api/approvals', { params: { query: { status: 'pending', limit: APPROVALS_SHOWN } } }),
  );
}

/** Loads the next run of automations with a schedule. */
export function useScheduledAutomations() {
  return useWorkspaceQuery(
    (workspaceId) => ['automations', workspaceId, 'scheduled'],
    () => api.automation.GET('/api/automations', { params: { query: { status: 'active', limit: AUTOMATIONS_LIMIT } } }),
    {
      select: ({ automations }) =>
        automations.flatMap(({ id, name, nextRunAt }) => (nextRunAt === null ? [] : [{ id, name, at: nextRunAt }])),
    },
  );
}
