import { Skeleton, Stack, Text } from '@mantine/core';
import { Link } from 'react-router';
import { approvalPath, paths } from '../../shell/paths';
import { formatNumber } from '../../ui/format';
import { LoadErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { Timestamp } from '../../ui/timestamp';
import styles from './overview-page.module.css';
import { useNewestPendingApprovals } from './overview-queries';

/** Lists the newest pending approvals. */
export function PendingApprovals({ pending }: { pending: number }) {
  const { data: approvals, error, refetch } = useNewestPendingApprovals();
  const hiddenCount = pending - (approvals?.length ?? 0);
  return (
    <Panel
      title="Pending approvals"
      aside={hiddenCount > 0 && <Link to={paths.approvals}>{formatNumber(hiddenCount)} more</Link>}
    >
      {error && !approvals ? (
        <LoadErrorNotice what="The approvals" error={error} retry={refetch} />
      ) : !approvals ? (
        <Skeleton height={44} />
      ) : approvals.length === 0 ? (
        <Text fz="sm" c="dimmed">
          No pending approvals. Requests from runs appear here.
        </Text>
      ) : (
        <Stack component="ul" className="divided rows" gap={0}>
          {approvals.map(({ id, title, worker_name, expires_at }) => (
            <li key={id} className={styles.row}>
              <Link to={approvalPath(id)} className="title-link">
                {title}
              </Link>
              <span className="caption full-row">
                {worker_name}, expires <Timestamp at={Date.parse(expires_at)} />
              </span>
            </li>
          ))}
        </Stack>
      )}
    </Panel>
  );
}
