import { unwrap, type WorkerSchemas } from '@gantry/sdk';
import { useQuery } from '@tanstack/react-query';
import { api, workerApi } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';

export type Overview = WorkerSchemas['Overview'];
export type Usage = WorkerSchemas['Usage'];

/** The number of approvals that are listed; the others are counted. */
const APPROVALS_SHOWN = 4;
/** A workspace with more automations sees only the next runs of the newest ones. */
const AUTOMATIONS_LIMIT = 200;

export function useOverview() {
  const workspaceId = useWorkspace()?.id;
  return useQuery({
    queryKey: ['overview', workspaceId],
    enabled: workspaceId !== undefined,
    queryFn: async () => unwrap((await workerApi()).GET('/api/system/overview')),
  });
}

/** Loads the usage of the current UTC month. */
export function useUsage() {
  const workspaceId = useWorkspace()?.id;
  const month = new Date().toISOString().slice(0, 7);
  return useQuery({
    queryKey: ['usage', workspaceId, month],
    enabled: workspaceId !== undefined,
    queryFn: async () => unwrap((await workerApi()).GET('/api/usage', { params: { query: { month } } })),
  });
}

/** Loads the newest pending approvals. */
export function useWaitingApprovals() {
  const workspaceId = useWorkspace()?.id;
  return useQuery({
    queryKey: ['approvals', workspaceId, 'newest'],
    enabled: workspaceId !== undefined,
    queryFn: async () =>
      unwrap(
        (await workerApi()).GET('/api/approvals', { params: { query: { status: 'pending', limit: APPROVALS_SHOWN } } }),
      ),
  });
}

/** Loads the next run of automations with a schedule. */
export function useScheduledAutomations() {
  const workspaceId = useWorkspace()?.id;
  return useQuery({
    queryKey: ['automations', workspaceId, 'scheduled'],
    enabled: workspaceId !== undefined,
    queryFn: () =>
      unwrap(api.GET('/api/automations', { params: { query: { status: 'active', limit: AUTOMATIONS_LIMIT } } })),
    select: ({ automations }) =>
      automations.flatMap(({ id, name, nextRunAt }) => (nextRunAt === null ? [] : [{ id, name, at: nextRunAt }])),
  });
}
