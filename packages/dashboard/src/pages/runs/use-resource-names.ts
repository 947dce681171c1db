import { api } from '../../shell/api';
import { useWorkspaceQuery } from '../../shell/use-workspace-query';

export interface NamedResource {
  id: string;
  name: string;
}

const ALL_WORKERS = { params: { query: { status: 'all', limit: 200 } } } as const;

/** Loads the names of workers and automations for the filter and the rows; only the first page of each has names. */
export function useResourceNames(): { workers: NamedResource[]; automations: NamedResource[]; tags: string[] } {
  const { data: workers = [] } = useWorkspaceQuery(
    (workspaceId) => ['workers', workspaceId, 'names'],
    () => api.worker.GET('/api/workers', ALL_WORKERS),
    { select: toNamedResources },
  );
  const { data: tags = [] } = useWorkspaceQuery(
    (workspaceId) => ['workers', workspaceId, 'tags'],
    () => api.worker.GET('/api/workers/tags'),
    { select: (all) => all.map(({ tag }) => tag) },
  );
  const { data: automations = [] } = useWorkspaceQuery(
    (workspaceId) => ['automations', workspaceId, 'names'],
    () => api.automation.GET('/api/automations'),
    { select: (page) => toNamedResources(page.automations) },
  );
  return { workers, automations, tags };
}

const toNamedResources = (resources: NamedResource[]) => resources.map(({ id, name }) => ({ id, name }));
