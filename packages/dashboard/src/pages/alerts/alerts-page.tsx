import { Button, Skeleton } from '@mantine/core';
import { Link, useSearchParams } from 'react-router';
import { roleAtLeast } from '../../accounts/roles';
import { useAlerts } from '../../alerts/alert-queries';
import { AlertStatusChip } from '../../alerts/alert-status';
import { AlertSubject } from '../../alerts/alert-subject';
import { type Alert, channelsOf, saidOf, titleOf } from '../../alerts/alert-words';
import { alertPath, newAlertPath, paths, workerIdIn, workerPath } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { Empty } from '../../ui/empty';
import { FailedToLoad } from '../../ui/notice';
import { PageHead } from '../../ui/page-head';
import { useWorkerName } from '../../workers/worker-name';
import styles from './alerts-page.module.css';

/** Alerts on failures and the like; those of one worker where the address names it. */
export default function AlertsPage() {
  useTitle('Alerts');
  const workspace = useWorkspace();
  const [search] = useSearchParams();
  const workerId = workerIdIn(search);
  const workerName = useWorkerName(workerId);
  const alerts = useAlerts(workerId);
  const shown = alerts.data?.pages.flat();
  const mayChange = roleAtLeast(workspace?.role, 'admin');
  const create = mayChange && (
    <Button component={Link} to={newAlertPath(workerId)}>
      New alert
    </Button>
  );
  return (
    <>
      <PageHead
        title="Alerts"
        about={
          workerId ? (
            <>
              <span>
                Only those of <Link to={workerPath(workerId)}>{workerName}</Link>.
              </span>
              <Link to={paths.alerts}>See all alerts</Link>
            </>
          ) : (
            'Tell a program by webhook, or people by e-mail, what becomes of runs.'
          )
        }
        actions={create}
      />
      {alerts.error && !shown ? (
        <FailedToLoad what="The alerts" error={alerts.error} retry={alerts.refetch} />
      ) : !shown ? (
        <Skeleton height={240} radius={10} />
      ) : shown.length === 0 ? (
        <Empty title={workerId ? `No alerts for ${workerName}` : 'No alerts yet'} level={2}>
          <p>
            {mayChange
              ? 'Make one, and somebody hears of it when a run fails, times out or waits for approval.'
              : 'Admins and owners of this workspace can make them.'}
          </p>
        </Empty>
      ) : (
        <ul className={styles.list} aria-label="Alerts">
          {shown.map((alert) => (
            <AlertItem key={alert.id} alert={alert} />
          ))}
        </ul>
      )}
      {alerts.hasNextPage && (
        <Button variant="default" loading={alerts.isFetchingNextPage} onClick={() => alerts.fetchNextPage()}>
          Show more
        </Button>
      )}
    </>
  );
}

function AlertItem({ alert }: { alert: Alert }) {
  const channels = channelsOf(alert).join(', ');
  return (
    <li className={styles.item}>
      <div className={styles.words}>
        <Link to={alertPath(alert.id)} className={styles.title}>
          {titleOf(alert)}
        </Link>
        <p className={styles.about}>{saidOf(alert.on)}</p>
        {alert.description && <p className={styles.about}>{channels}</p>}
      </div>
      <p className={styles.subject}>
        <AlertSubject alert={alert} />
      </p>
      <div className={styles.status}>
        <AlertStatusChip alert={alert} />
      </div>
    </li>
  );
}
