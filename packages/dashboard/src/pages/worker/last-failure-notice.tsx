import { unwrap } from '@gantry/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { getWorkerApi, type Worker } from '../../shell/api';
import { runsPath } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { Notice } from '../../ui/notice';
import { Timestamp } from '../../ui/timestamp';

export function useWorkerStats(worker: Worker) {
  const workspaceId = useWorkspace()?.id;
  return useQuery({
    queryKey: ['runs', workspaceId, 'of-worker', worker.id, 'stats'],
    queryFn: async () =>
      unwrap(
        (await getWorkerApi()).GET('/api/workers/{worker_id}/stats', { params: { path: { worker_id: worker.id } } }),
      ),
  });
}

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
