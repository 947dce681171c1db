import { Link, useSearchParams } from 'react-router';
import { hasRoleAtLeast } from '../../accounts/roles';
import { useAlerts } from '../../alerts/alert-queries';
import { LinkButton } from '../../shell/link-button';
import { getWorkerIdParam, newAlertPath, paths, workerPath } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { EmptyState } from '../../ui/empty-state';
import { PageHeader } from '../../ui/page-header';
import { ResourceTable } from '../../ui/resource-table';
import { useWorkerName } from '../../workers/use-worker-name';
import { ALERT_COLUMNS } from './alert-columns';

/** Lists the alerts of the workspace, or those of the worker that the URL names. */
export default function AlertsPage() {
  useTitle('Alerts');
  const workspace = useWorkspace();
  const [search] = useSearchParams();
  const workerId = getWorkerIdParam(search);
  const workerName = useWorkerName(workerId);
  const alerts = useAlerts(workerId);
  const canEdit = hasRoleAtLeast(workspace?.role, 'admin');
  return (
    <>
      <PageHeader
        title="Alerts"
        about={
          workerId ? (
            <>
              <span>
                Showing alerts for <Link to={workerPath(workerId)}>{workerName}</Link>.
              </span>
              <Link to={paths.alerts}>View all alerts</Link>
            </>
          ) : (
            'Get notified about runs by webhook or email.'
          )
        }
        actions={canEdit && <LinkButton to={newAlertPath(workerId)}>New alert</LinkButton>}
      />
      <ResourceTable
        label="Alerts"
        what="The alerts"
        query={alerts}
        items={alerts.data}
        columns={ALERT_COLUMNS}
        getKey={({ id }) => id}
        isCard
        empty={
          <EmptyState title={workerId ? `No alerts for ${workerName}` : 'No alerts yet'} level={2}>
            <p>
              {canEdit
                ? 'Create an alert to be notified when a run fails, times out or waits for approval.'
                : 'Workspace admins and owners can create alerts.'}
            </p>
          </EmptyState>
        }
      />
    </>
  );
}
