import { Text } from '@mantine/core';
import { Link } from 'react-router';
import { hasRoleAtLeast } from '../../accounts/roles';
import { getAlertTitle, listAlertDestinations } from '../../alerts/alert-channels';
import { formatAlertTypes } from '../../alerts/alert-labels';
import { AlertStatusChip } from '../../alerts/alert-status';
import { api, type Worker } from '../../shell/api';
import { LinkButton } from '../../shell/link-button';
import { alertPath, newAlertPath, paths } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { useWorkspaceQuery } from '../../shell/use-workspace-query';
import { EmptyState } from '../../ui/empty-state';
import { ListItem } from '../../ui/list-item';
import { Panel } from '../../ui/panel';
import { ResourceList } from '../../ui/resource-list';
import { WorkerLayout } from '../../workers/worker-layout';

/** Lists the alerts of one worker. */
export default function WorkerAlertsPage() {
  return <WorkerLayout tab="Alerts">{(worker) => <WorkerAlerts key={worker.id} worker={worker} />}</WorkerLayout>;
}

function WorkerAlerts({ worker }: { worker: Worker }) {
  const canCreate = hasRoleAtLeast(useWorkspace()?.role, 'admin');
  const alerts = useWorkspaceQuery(
    (workspaceId) => ['alerts', workspaceId, 'of-worker', worker.id],
    () => api.worker.GET('/api/workers/{worker_id}/alerts', { params: { path: { worker_id: worker.id } } }),
  );
  return (
    <Panel
      title="Alerts"
      aside={
        canCreate && (
          <LinkButton to={newAlertPath(worker.id)} variant="default">
            New alert
          </LinkButton>
        )
      }
    >
      <ResourceList
        what="The alerts"
        query={alerts}
        items={alerts.data}
        height={120}
        empty={
          <EmptyState title="No alerts for this worker yet">
            <p>
              Alerts notify you by email or webhook when a run fails, times out or waits for approval, or when a
              scheduled run is missed.
              {!canCreate && ' Admins can create alerts.'}
            </p>
          </EmptyState>
        }
      >
        {(alertList) => (
          <ul className="panel-list divided rows">
            {alertList.map((alert) => (
              <ListItem
                key={alert.id}
                title={<Link to={alertPath(alert.id)}>{getAlertTitle(alert)}</Link>}
                about={[formatAlertTypes(alert.on), ...(alert.description ? listAlertDestinations(alert) : [])].join(
                  '. ',
                )}
              >
                <AlertStatusChip alert={alert} />
              </ListItem>
            ))}
          </ul>
        )}
      </ResourceList>
      <Text mt="md" fz="sm" c="dimmed">
        Workspace-wide alerts also apply to this worker. <Link to={paths.alerts}>View all alerts</Link>
      </Text>
    </Panel>
  );
}
