import { useQuery } from '@tanstack/react-query';
import { automationKeys } from '../../automations/automation-keys';
import { api } from '../../shell/api';
import { useSession } from '../../shell/session';

export const loadAutomationPage = (automationId: string, headers = {}) =>
  api.automation.GET('/api/pages/{automationId}', { params: { path: { automationId } }, headers });

/** Loads the automation as its page shows it to members and to visitors with its public link. */
export function useAutomationPage(automationId: string) {
  const { status } = useSession();
  return useQuery({
    queryKey: [...automationKeys.page(automationId), status],
    queryFn: () => loadAutomationPage(automationId),
    enabled: status !== 'unknown',
  });
}

export const useAutomationVersions = (automationId: string) =>
  useQuery({
    queryKey: [...automationKeys.page(automationId), 'versions'],
    queryFn: () =>
      api.automation.GET('/api/automations/{automationId}/versions', { params: { path: { automationId } } }),
  });
