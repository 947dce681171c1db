import { unwrap } from '@gantry/sdk';
import { useQuery } from '@tanstack/react-query';
import { automationApi, getWorkerApi } from '../../shell/api';

export interface NamedResource {
  id: string;
  name: string;
}

const NAMES_LIMIT = 200;

/** Loads the names of workers and automations for the filter and the rows; only the first page of each has names. */
export function useResourceNames(workspaceId: string | undefined): {
  workers: NamedResource[];
  automations: NamedResource[];
  tags: string[];
} {
  const enabled = workspaceId !== undefined;
  const workers = useQuery({
    queryKey: ['workers', workspaceId, 'names'],
    enabled,
    queryFn: async () =>
      (
        await unwrap(
          (await getWorkerApi()).GET('/api/workers', { params: { query: { status: 'all', limit: NAMES_LIMIT } } }),
        )
      ).map(({ id, name }) => ({ id, name })),
  });
  const tags = useQuery({
    queryKey: ['workers', workspaceId, 'tags'],
    enabled,
    queryFn: async () => (await unwrap((await getWorkerApi()).GET('/api/workers/tags'))).map(({ tag }) => tag),
  });
  const automations = useQuery({
    queryKey: ['automations', workspaceId, 'names'],
    enabled,
    queryFn: async () =>
      (await unwrap(automationApi.GET('/api/automations'))).automations.map(({ id, name }) => ({ id, name })),
  });
  return { workers: workers.data ?? [], automations: automations.data ?? [], tags: tags.data ?? [] };
}
