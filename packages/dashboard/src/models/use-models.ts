import { api, type Model } from '../shell/api';
import { useWorkspaceQuery } from '../shell/use-workspace-query';

/** Lists the models that the operator offers; none where no provider is set. */
export function useModels() {
  return useWorkspaceQuery(
    (workspaceId) => ['models', workspaceId],
    () => api.worker.GET('/api/models'),
    { staleTime: 60_000 },
  );
}

/** Names by which a model can be asked for: aliases first, since they stay when a model changes. */
export const listModelNames = (models: readonly Model[]): string[] => [
  ...new Set([...models.flatMap(({ aliases }) => aliases), ...models.map(({ id }) => id)]),
];
