import { unwrap } from '@gantry/api-client';
import { Button, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { AlertStatusChip } from '../../alerts/alert-status';
import { channelsOf, saidOf, titleOf } from '../../alerts/alert-words';
import { type Worker, workerApi } from '../../shell/api';
import { alertPath, newAlertPath, paths } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { Empty } from '../../ui/empty';
import { ListItem } from '../../ui/list-item';
import { FailedToLoad } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import content from '../../ui/panel-content.module.css';
import { WorkerFrame } from '../../workers/worker-frame';
import styles from './worker-alerts.module.css';

/** Who hears of this worker, and when. Rules are made and changed under Alerts. */
export default function WorkerAlertsPage() {
  return <WorkerFrame tab="Alerts">{(worker) => <Alerts key={worker.id} worker={worker} />}</WorkerFrame>;
}

function Alerts({ worker }: { worker: Worker }) {
  const workspace = useWorkspace();
  const mayMake = workspace?.role === 'owner' || workspace?.role === 'admin';
  const {
    data: alerts,
    error,
    refetch,
  } = useQuery({
    queryKey: ['alerts', workspace?.id, 'of-worker', worker.id],
    queryFn: async () =>
      unwrap(
        (await workerApi()).GET('/api/workers/{worker_id}/alerts', { params: { path: { worker_id: worker.id } } }),
      ),
  });
  return (
    <Panel
      title="Alert rules"
      aside={
        mayMake && (
          <Button component={Link} to={newAlertPath(worker.id)} variant="default">
            New rule
          </Button>
        )
      }
    >
      {alerts?.length === 0 ? (
        <Empty title="No rule tells of this worker">
          <p>
            A rule sends an e-mail or a webhook when a run fails, times out, waits for a decision or misses its time.{' '}
            {mayMake ? 'Make one, or one for the whole workspace.' : 'Admins make them.'}
          </p>
        </Empty>
      ) : alerts ? (
        <ul className={content.list}>
          {alerts.map((alert) => (
            <ListItem
              key={alert.id}
              what={<Link to={alertPath(alert.id)}>{titleOf(alert)}</Link>}
              about={[saidOf(alert.on), ...(alert.description ? channelsOf(alert) : [])].join(' · ')}
            >
              <AlertStatusChip alert={alert} />
            </ListItem>
          ))}
        </ul>
      ) : error ? (
        <FailedToLoad what="The rules" error={error} retry={refetch} />
      ) : (
        <Skeleton height={120} />
      )}
      <p className={styles.note}>
        Rules of the whole workspace tell of it as well: see <Link to={paths.alerts}>all alerts</Link>.
      </p>
    </Panel>
  );
}
