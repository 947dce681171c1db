import { useNamedAutomations } from '../../automations/use-named-automations';
import { api } from '../../shell/api';
import { useWorkspaceQuery } from '../../shell/use-workspace-query';

const ALL_WORKERS = { params: { query: { status: 'all', limit: 200 } } } as const;

export interface NamedResource {
  id: string;
  name: string;
}

/** Loads the names of workers and automations for the filter and the rows; only the first page of each has names. */
export function useResourceNames(): { workers: NamedResource[]; automations: NamedResource[]; tags: string[] } {
  const { data: workers = [] } = useWorkspaceQuery(
    (workspaceId) => ['workers', workspaceId, 'names'],
    () => api.worker.GET('/api/workers', ALL_WORKERS),
    { select: (all) => all.map(({ id, name }) => ({ id, name })) },
  );
  const { data: tags = [] } = useWorkspaceQuery(
    (workspaceId) => ['workers', workspaceId, 'tags'],
    () => api.worker.GET('/api/workers/tags'),
    { select: (all) => all.map(({ tag }) => tag) },
  );
  return { workers, automations: useNamedAutomations(), tags };
}
