import { Skeleton, Stack } from '@mantine/core';
import { LinkButton } from '../../shell/link-button';
import { paths } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { Columns } from '../../ui/columns';
import { LoadErrorNotice } from '../../ui/notice';
import { PageHeader } from '../../ui/page-header';
import { AttentionPanel } from './attention-panel';
import { CapacityPanel } from './capacity-panel';
import { GettingStarted } from './getting-started';
import { KeyFigures } from './key-figures';
import { MonthCostPanel } from './month-cost-panel';
import { type Overview, useOverview } from './overview-queries';
import { PendingApprovals } from './pending-approvals';
import { RunsByDay } from './runs-by-day';
import { UpcomingRuns } from './upcoming-runs';

/** Shows the activity of the workspace and what needs attention, or how to get started in an empty one. */
export default function OverviewPage() {
  useTitle('Overview');
  const workspace = useWorkspace();
  const canCreate = (workspace?.role ?? 'viewer') !== 'viewer';
  const { data: overview, error, refetch } = useOverview();
  const isEmpty = overview !== undefined && isEmptyWorkspace(overview);
  return (
    <>
      <PageHeader
        title="Overview"
        actions={
          canCreate &&
          overview &&
          !isEmpty && (
            <>
              <LinkButton to={paths.newAutomation} variant="default">
                New automation
              </LinkButton>
              <LinkButton to={paths.newWorker}>New worker</LinkButton>
            </>
          )
        }
      />
      {error && !overview ? (
        <LoadErrorNotice what="The overview" error={error} retry={refetch} />
      ) : !overview || !workspace ? (
        <LoadingOverview />
      ) : isEmpty ? (
        <GettingStarted workspaceId={workspace.id} canCreate={canCreate} />
      ) : (
        <Stack gap="lg">
          <KeyFigures overview={overview} />
          <Columns>
            <Stack gap="lg">
              <RunsByDay days={overview.runs.by_day} />
              <AttentionPanel overview={overview} />
              <MonthCostPanel />
            </Stack>
            <Stack gap="lg">
              <PendingApprovals pending={overview.approvals_pending} />
              <UpcomingRuns workers={overview.upcoming} />
              <CapacityPanel overview={overview} />
            </Stack>
          </Columns>
        </Stack>
      )}
    </>
  );
}

const isEmptyWorkspace = ({ workers, automations }: Overview): boolean =>
  workers.total === 0 && automations !== null && automations.total === 0;

function LoadingOverview() {
  return (
    <Stack gap="lg">
      <Skeleton height={140} radius={10} />
      <Columns>
        <Stack gap="lg">
          <Skeleton height={290} radius={10} />
          <Skeleton height={180} radius={10} />
        </Stack>
        <Stack gap="lg">
          <Skeleton height={140} radius={10} />
          <Skeleton height={200} radius={10} />
        </Stack>
      </Columns>
    </Stack>
  );
}
