import { keepPreviousData } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import { api } from '../api';
import { automationPath, connectionPath, skillPath, workerPath } from '../paths';
import { useWorkspaceQuery } from '../use-workspace-query';
import type { PaletteItem } from './palette-item';

const RESULTS_PER_KIND = 6;

/**
 * Searches workers, automations, connections and skills; results arrive at once, so that nothing moves under the
 * pointer.
 */
export function useResourceSearch(q: string): { found: PaletteItem[]; isLooking: boolean } {
  const navigate = useNavigate();
  const { data = [], isFetching } = useWorkspaceQuery(
    (workspaceId) => ['found', workspaceId, q],
    () => searchResources(q),
    { enabled: q !== '', placeholderData: keepPreviousData },
  );
  const connections = useConnectionSearch(q);
  return {
    found: [...data, ...connections].map(({ to, ...thing }) => ({ ...thing, run: () => navigate(to) })),
    isLooking: isFetching,
  };
}

/** Filters the connections here: a workspace has few, and they are loaded once. */
function useConnectionSearch(q: string): SearchResult[] {
  const query = q.toLowerCase();
  const { data = [] } = useWorkspaceQuery(
    (workspaceId) => ['connections', workspaceId, 'names'],
    () => api.worker.GET('/api/connections'),
    { enabled: q !== '' },
  );
  return data
    .filter(({ label, app }) => `${label} ${app}`.toLowerCase().includes(query))
    .slice(0, RESULTS_PER_KIND)
    .map(({ id, label }) => toSearchResult('Connection', id, label, connectionPath(id)));
}

type SearchResult = Omit<PaletteItem, 'run'> & { to: string };

/** Searches all surfaces; one that fails does not hide the results of the others. */
async function searchResources(q: string): Promise<SearchResult[]> {
  const params = { params: { query: { q, limit: RESULTS_PER_KIND } } };
  const responses = await Promise.allSettled([
    api.worker
      .GET('/api/workers', params)
      .then((found) => found.map(({ id, name }) => toSearchResult('Worker', id, name, workerPath(id)))),
    api.automation
      .GET('/api/automations', params)
      .then(({ automations }) =>
        automations.map(({ id, name }) => toSearchResult('Automation', id, name, automationPath(id))),
      ),
    api.skills
      .GET('/api/v1/search', params)
      .then((found) => found.map(({ slug, title }) => toSearchResult('Skill', slug, title, skillPath(slug)))),
  ]);
  return responses.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
}

const toSearchResult = (group: string, id: string, label: string, to: string): SearchResult => ({
  id: `${group} ${id}`,
  group,
  label,
  to,
});
