import { unwrap } from '@gantry/sdk';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { VersionsPage } from '../../code/versions-page';
import { type Worker, workerApi } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { refreshWorkers, workerKeys } from '../../workers/use-worker';
import { WorkerFrame } from '../../workers/worker-frame';
import { CandidatesPanel } from './candidates';
import { VersionComparison } from './version-comparison';

const PAGE_SIZE = 50;

/** Lists the versions of a worker's files and settings. */
export default function WorkerVersionsPage() {
  return (
    <WorkerFrame tab="Versions">
      {(worker) => (
        <>
          <CandidatesPanel workerId={worker.id} />
          <WorkerVersions key={worker.id} worker={worker} />
        </>
      )}
    </WorkerFrame>
  );
}

function WorkerVersions({ worker }: { worker: Worker }) {
  const workspaceId = useWorkspace()?.id;
  const rollBackTo = useRollBack(worker);
  const params = { path: { worker_id: worker.id } };
  const query = useInfiniteQuery({
    // The key has the version, because each new version changes the list.
    queryKey: workerKeys.part(workspaceId, worker.id, 'versions', { version: worker.version }),
    queryFn: async ({ pageParam: offset }) =>
      unwrap(
        (await workerApi()).GET('/api/workers/{worker_id}/versions', {
          params: { ...params, query: { limit: PAGE_SIZE, offset } },
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: (last, _pages, offset) => (last.length === PAGE_SIZE ? offset + PAGE_SIZE : undefined),
    placeholderData: (before) => before,
    enabled: workspaceId !== undefined,
  });
  return (
    <VersionsPage
      query={query}
      toListed={(version) => ({ ...version, bytes: version.total_size })}
      resource={worker}
      rollBackTo={worker.permissions.edit && worker.status !== 'archived' ? rollBackTo : undefined}
      compare={(from, to) => <VersionComparison workerId={worker.id} from={from} to={to} />}
    />
  );
}

function useRollBack(worker: Worker) {
  const queryClient = useQueryClient();
  const workspaceId = useWorkspace()?.id;
  return async (sha: string, message: string | undefined) => {
    const params = { path: { worker_id: worker.id, sha } };
    const body = message ? { message } : {};
    const rolledBack = await unwrap(
      (await workerApi()).POST('/api/workers/{worker_id}/rollback/{sha}', { params, body }),
    );
    queryClient.setQueryData(workerKeys.one(workspaceId, worker.id), rolledBack);
    void refreshWorkers(queryClient, workspaceId);
  };
}
