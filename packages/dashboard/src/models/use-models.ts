import { unwrap } from '@gantry/sdk';
import { useQuery } from '@tanstack/react-query';
import { type Model, workerApi } from '../shell/api';
import { useWorkspace } from '../shell/use-me';

/** Lists the models that the operator offers; none where no provider is set. */
export function useModels() {
  const workspaceId = useWorkspace()?.id;
  return useQuery({
    queryKey: ['models', workspaceId],
    enabled: workspaceId !== undefined,
    queryFn: async () => unwrap((await workerApi()).GET('/api/models')),
    staleTime: 60_000,
  });
}

/** Names by which a model can be asked for: aliases first, since they stay when a model changes. */
export const listModelNames = (models: readonly Model[]): string[] => [
  ...new Set([...models.flatMap(({ aliases }) => aliases), ...models.map(({ id }) => id)]),
];
