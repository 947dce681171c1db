import { Button, Skeleton, Stack } from '@mantine/core';
import { Link } from 'react-router';
import { paths } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { FailedToLoad } from '../../ui/notice';
import layout from '../../ui/page.module.css';
import { PageHead } from '../../ui/page-head';
import { Attention } from './attention';
import { Begin } from './begin';
import { Executors } from './executors';
import { KeyFigures } from './key-figures';
import { MonthCost } from './month-cost';
import { type Overview, useOverview } from './overview-queries';
import { RunsByDay } from './runs-by-day';
import { Upcoming } from './upcoming';
import { Waiting } from './waiting';

/** Shows the activity of the workspace and what needs attention, or how to get started in an empty one. */
export default function OverviewPage() {
  useTitle('Overview');
  const workspace = useWorkspace();
  const mayMake = (workspace?.role ?? 'viewer') !== 'viewer';
  const { data: overview, error, refetch } = useOverview();
  const isEmpty = overview !== undefined && isNothingThere(overview);
  return (
    <>
      <PageHead
        title="Overview"
        actions={
          mayMake &&
          overview &&
          !isEmpty && (
            <Button component={Link} to={paths.newWorker}>
              New worker
            </Button>
          )
        }
      />
      {error && !overview ? (
        <FailedToLoad what="The overview" error={error} retry={refetch} />
      ) : !overview || !workspace ? (
        <Loading />
      ) : isEmpty ? (
        <Begin workspaceId={workspace.id} mayMake={mayMake} />
      ) : (
        <Stack gap="lg">
          <KeyFigures overview={overview} />
          <div className={layout.mainAndAside}>
            <Stack gap="lg">
              <RunsByDay days={overview.runs.by_day} />
              <Attention overview={overview} />
              <MonthCost />
            </Stack>
            <Stack gap="lg">
              <Waiting pending={overview.approvals_pending} />
              <Upcoming workers={overview.upcoming} />
              <Executors overview={overview} />
            </Stack>
          </div>
        </Stack>
      )}
    </>
  );
}

const isNothingThere = ({ workers, automations }: Overview): boolean =>
  workers.total === 0 && automations !== null && automations.total === 0;

function Loading() {
  return (
    <Stack gap="lg">
      <Skeleton height={140} radius={10} />
      <div className={layout.mainAndAside}>
        <Stack gap="lg">
          <Skeleton height={290} radius={10} />
          <Skeleton height={180} radius={10} />
        </Stack>
        <Stack gap="lg">
          <Skeleton height={140} radius={10} />
          <Skeleton height={200} radius={10} />
        </Stack>
      </div>
    </Stack>
  );
}
