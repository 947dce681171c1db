import { unwrap } from '@gantry/sdk';
import { useQuery } from '@tanstack/react-query';
import { api } from '../shell/api';
import { useWorkspace } from '../shell/use-me';

/** Names change seldom. */
const STALE_MS = 60_000;

/** Loads the name; undefined until it is known, and where the automation is gone. @param automationId null: none */
export function useAutomationName(automationId: string | null): string | undefined {
  const workspaceId = useWorkspace()?.id;
  const { data } = useQuery({
    queryKey: ['automations', workspaceId, 'name', automationId],
    enabled: workspaceId !== undefined && automationId !== null,
    staleTime: STALE_MS,
    retry: false,
    queryFn: async () => {
      const params = { path: { automationId: automationId ?? '' } };
      return (await unwrap(api.GET('/api/automations/{automationId}', { params }))).name;
    },
  });
  return data;
}
