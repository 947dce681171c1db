import { Link } from 'react-router';
import { api, type Worker } from '../../shell/api';
import { runsPath } from '../../shell/paths';
import { useWorkspaceQuery } from '../../shell/use-workspace-query';
import { Notice } from '../../ui/notice';
import { Timestamp } from '../../ui/timestamp';

export const useWorkerStats = (worker: Worker) =>
  useWorkspaceQuery(
    (workspaceId) => ['runs', workspaceId, 'of-worker', worker.id, 'stats'],
    () => api.worker.GET('/api/workers/{worker_id}/stats', { params: { path: { worker_id: worker.id } } }),
  );

/** Shows the last failure of a worker whose last ended run did not complete. */
export function LastFailureNotice({ worker }: { worker: Worker }) {
  const { data: stats } = useWorkerStats(worker);
  if (worker.health !== 'needs_attention' || !stats?.last_error_at) return null;
  return (
    <Notice
      tone="error"
      title="Last run failed"
      action={<Link to={runsPath({ worker: worker.id, status: 'failed' })}>View failed runs</Link>}
    >
      {stats.last_error}, <Timestamp at={Date.parse(stats.last_error_at)} />
    </Notice>
  );
}
