import { Skeleton, Stack } from '@mantine/core';
import { ModelSetupInstructions } from '../../models/missing-model-state';
import { useModels } from '../../models/use-models';
import { SettingsLayout } from '../../settings/settings-layout';
import { api } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { useWorkspaceQuery } from '../../shell/use-workspace-query';
import { LoadErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { BudgetPanel } from './budget-panel';
import { ModelTable } from './model-table';
import { UsageByModel } from './usage-by-model';

/** Lists the available models, their cost in this month, and the budget. */
export default function ModelsPage() {
  const workspace = useWorkspace();
  const models = useModels();
  const usage = useWorkspaceQuery(
    (workspaceId) => ['usage', workspaceId, 'models'],
    () => api.worker.GET('/api/models/usage'),
  );
  return (
    <SettingsLayout title="Models" about="Language models for chat, agents and code, plus the monthly budget.">
      {models.error && !models.data ? (
        <LoadErrorNotice what="The models" error={models.error} retry={models.refetch} />
      ) : !models.data ? (
        <Skeleton height={220} radius={10} />
      ) : models.data.length === 0 ? (
        <Panel title="No language model is configured">
          <Stack gap="md" maw="68ch" c="dimmed">
            <p>Chat and agents need a model; everything else in Gantry works without one.</p>
            <ModelSetupInstructions />
          </Stack>
        </Panel>
      ) : (
        <ModelTable models={models.data} />
      )}
      {usage.error && !usage.data ? (
        <LoadErrorNotice what="Model usage" error={usage.error} retry={usage.refetch} />
      ) : !usage.data || !workspace ? (
        <Skeleton height={280} radius={10} />
      ) : (
        <>
          <BudgetPanel usage={usage.data} workspace={workspace} models={models.data ?? []} />
          {usage.data.models.length > 0 && <UsageByModel usage={usage.data} />}
        </>
      )}
    </SettingsLayout>
  );
}
