import { api } from '../shell/api';
import { useWorkspaceQuery } from '../shell/use-workspace-query';

/** The most that one page may have. */
const LIMIT = 200;

/** Loads ids and names of the workspace's automations; those beyond the first page are missing. */
export function useNamedAutomations(options: { staleTime?: number } = {}) {
  const { data = [] } = useWorkspaceQuery(
    (workspaceId) => ['automations', workspaceId, 'names'],
    () => api.automation.GET('/api/automations', { params: { query: { limit: LIMIT } } }),
    { ...options, select: (page) => page.automations.map(({ id, name }) => ({ id, name })) },
  );
  return data;
}
