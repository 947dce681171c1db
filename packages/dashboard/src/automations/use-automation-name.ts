import { api } from '../shell/api';
import { useWorkspaceQuery } from '../shell/use-workspace-query';

/** Names change seldom. */
const STALE_MS = 60_000;

/** Loads the name; undefined until it is known, and where the automation is gone. @param automationId null: none */
export function useAutomationName(automationId: string | null): string | undefined {
  const { data } = useWorkspaceQuery(
    (workspaceId) => ['automations', workspaceId, 'name', automationId],
    async () => {
      const params = { path: { automationId: automationId ?? '' } };
      return (await api.automation.GET('/api/automations/{automationId}', { params })).name;
    },
    { enabled: automationId !== null, staleTime: STALE_MS, retry: false },
  );
  return data;
}
