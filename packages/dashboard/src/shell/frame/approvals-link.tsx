import { unwrap } from '@gantry/api-client';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { workerApi } from '../api';
import { paths } from '../paths';
import { useWorkspace } from '../use-me';
import styles from './approvals-link.module.css';

/** Runs ask, and others decide, while this page is open. */
const REFRESH_MS = 15_000;

/** Leads to what waits for people, and says how much it is. */
export function ApprovalsLink() {
  const workspace = useWorkspace();
  const { data } = useQuery({
    queryKey: ['approvals', workspace?.id, 'count'],
    enabled: workspace !== undefined,
    refetchInterval: REFRESH_MS,
    queryFn: async () => unwrap((await workerApi()).GET('/api/approvals/count')),
  });
  const pending = data?.pending ?? 0;
  return (
    <Link to={paths.approvals} className={styles.link}>
      Approvals{' '}
      {pending > 0 && (
        <span className={styles.count}>
          {pending}
          <span className="visually-hidden"> waiting</span>
        </span>
      )}
    </Link>
  );
}
