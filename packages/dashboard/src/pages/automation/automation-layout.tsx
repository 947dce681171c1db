import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useParams } from 'react-router';
import { renderResourceError } from '../../accounts/resource-error';
import { automationKeys } from '../../automations/automation-keys';
import { type Automation, api, type Workspace } from '../../shell/api';
import { automationPath } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { LoadingPage } from '../../ui/loading-page';
import { AutomationHeader } from './automation-header';

const loadAutomation = (automationId: string, headers = {}) =>
  api.automation.GET('/api/automations/{automationId}', { params: { path: { automationId } }, headers });

interface AutomationLayoutProps {
  /** The name of this tab. */
  tab: string;
  children: (automation: Automation, workspace: Workspace) => ReactNode;
}

/** Frames the pages of one automation for members: its head and tabs, and the page below them. */
export function AutomationLayout({ tab, children }: AutomationLayoutProps) {
  const { automationId = '' } = useParams();
  const workspace = useWorkspace();
  const queryKey = automationKeys.settings(workspace?.id, automationId);
  const query = useQuery({ queryKey, queryFn: () => loadAutomation(automationId), enabled: workspace !== undefined });
  const { data: automation } = query;
  useTitle(tab, automation && [{ to: automationPath(automationId), label: automation.name }]);
  const resourceError = renderResourceError({
    query,
    resourceKind: 'automation',
    queryKey: queryKey,
    read: (headers) => loadAutomation(automationId, headers),
  });
  if (resourceError) return resourceError;
  if (!automation || !workspace) return <LoadingPage what="the automation" columns="minmax(0, 1fr)" />;
  return (
    <>
      <AutomationHeader page={{ ...automation, access: 'member' }} />
      {children(automation, workspace)}
    </>
  );
}
