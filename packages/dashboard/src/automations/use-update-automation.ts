import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import { type Automation, type AutomationChange, api } from '../shell/api';
import { useWorkspace } from '../shell/use-me';
import { automationKeys } from './automation-keys';

const patchAutomation = (automationId: string, body: AutomationChange): Promise<Automation> =>
  api.automation.PATCH('/api/automations/{automationId}', { params: { path: { automationId } }, body });

/** Invalidates every query that shows the automation. */
export const invalidateAutomation = (queryClient: QueryClient, workspaceId: string | undefined, automationId: string) =>
  Promise.all([
    queryClient.invalidateQueries({ queryKey: automationKeys.page(automationId) }),
    queryClient.invalidateQueries({ queryKey: automationKeys.all(workspaceId) }),
  ]);

/** Changes fields of an automation other than its code, then invalidates what shows it. */
export function useUpdateAutomation(automationId: string) {
  const workspaceId = useWorkspace()?.id;
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (change: AutomationChange) => patchAutomation(automationId, change),
    onSuccess: async (automation) => {
      queryClient.setQueryData<Automation>(automationKeys.settings(workspaceId, automationId), automation);
      await invalidateAutomation(queryClient, workspaceId, automationId);
    },
  });
}
