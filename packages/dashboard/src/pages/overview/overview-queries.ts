import { unwrap, type WorkerSchemas } from '@gantry/sdk';
import { useQuery } from '@tanstack/react-query';
import { api, workerApi } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';

export type Overview = WorkerSchemas['Overview'];
export type Usage = WorkerSchemas['Usage'];

/** Approvals that are named; the others are counted. */
const APPROVALS_SHOWN = 4;
/** A workspace with more automations than this is shown the next runs of the newest ones. */
const AUTOMATIONS_ASKED = 200;

export function useOverview() {
  const workspaceId = useWorkspace()?.id;
  return useQuery({
    queryKey: ['overview', workspaceId],
    enabled: workspaceId !== undefined,
    queryFn: async () => unwrap((await workerApi()).GET('/api/system/overview')),
  });
}

/** The present month of UTC. */
export function useUsage() {
  const workspaceId = useWorkspace()?.id;
  const month = new Date().toISOString().slice(0, 7);
  return useQuery({
    queryKey: ['usage', workspaceId, month],
    enabled: workspaceId !== undefined,
    queryFn: async () => unwrap((await workerApi()).GET('/api/usage', { params: { query: { month } } })),
  });
}

/** The newest that wait. */
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

/** Automations with a schedule, the next to run first. */
export function useScheduledAutomations() {
  const workspaceId = useWorkspace()?.id;
  return useQuery({
    queryKey: ['automations', workspaceId, 'scheduled'],
    enabled: workspaceId !== undefined,
    queryFn: () =>
      unwrap(api.GET('/api/automations', { params: { query: { status: 'active', limit: AUTOMATIONS_ASKED } } })),
    select: ({ automations }) =>
      automations.flatMap(({ id, name, nextRunAt }) => (nextRunAt === null ? [] : [{ id, name, at: nextRunAt }])),
  });
}
