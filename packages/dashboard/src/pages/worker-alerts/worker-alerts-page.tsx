import { unwrap } from '@gantry/api-client';
import { Button, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { type Worker, type WorkerAlert, workerApi } from '../../shell/api';
import { alertsPath, paths } from '../../shell/paths';
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
          <Button component={Link} to={alertsPath({ worker: worker.id })} variant="default">
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
            <ListItem key={alert.id} what={alert.description || capital(whenOf(alert))} about={aboutOf(alert)}>
              <Link to={alertsPath({ alert: alert.id })}>Open</Link>
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

const WHEN: Record<WorkerAlert['on'][number], string> = {
  'run.completed': 'a run succeeds',
  'run.failed': 'a run fails',
  'run.timed_out': 'a run times out',
  'run.cancelled': 'a run is cancelled',
  'run.rejected': 'a run is rejected',
  'approval.requested': 'an approval is asked for',
  'schedule.missed': 'a scheduled run is missed',
};
const alternatives = new Intl.ListFormat('en', { type: 'disjunction' });

const whenOf = ({ on }: WorkerAlert): string => `when ${alternatives.format(on.map((type) => WHEN[type]))}`;
const capital = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

function aboutOf(alert: WorkerAlert): string {
  const receivers = [alert.email_to, alert.url].filter((one) => one !== null).join(' and ');
  const words = `${capital(whenOf(alert))}, to ${receivers}`;
  return alert.enabled ? words : `Switched off. ${words}`;
}
