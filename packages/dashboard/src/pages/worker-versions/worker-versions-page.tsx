import { unwrap } from '@gantry/api-client';
import { Skeleton } from '@mantine/core';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import type { ListedVersion } from '../../code/version-list';
import { VersionsView } from '../../code/versions-view';
import { type Worker, workerApi } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { useWorkspace } from '../../shell/use-me';
import { FailedToLoad } from '../../ui/notice';
import { refreshWorkers, workerKeys } from '../../workers/use-worker';
import { WorkerFrame } from '../../workers/worker-frame';
import { Candidates } from './candidates';
import { ComparedVersions } from './compared-versions';

const PAGE = 50;

/** The history of a worker's files and settings. */
export default function WorkerVersionsPage() {
  return (
    <WorkerFrame tab="Versions">
      {(worker) => (
        <>
          <Candidates workerId={worker.id} />
          <Versions key={worker.id} worker={worker} />
        </>
      )}
    </WorkerFrame>
  );
}

function Versions({ worker }: { worker: Worker }) {
  const workspaceId = useWorkspace()?.id;
  const rollBack = useRollBack(worker);
  const params = { path: { worker_id: worker.id } };
  const query = useInfiniteQuery({
    // With its version: another one of the worker makes the list another.
    queryKey: workerKeys.part(workspaceId, worker.id, 'versions', { version: worker.version }),
    queryFn: async ({ pageParam: offset }) =>
      unwrap(
        (await workerApi()).GET('/api/workers/{worker_id}/versions', {
          params: { ...params, query: { limit: PAGE, offset } },
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: (last, _pages, offset) => (last.length === PAGE ? offset + PAGE : undefined),
    placeholderData: (before) => before,
    enabled: workspaceId !== undefined,
  });
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  if (error && !data) return <FailedToLoad what="The versions" error={error} retry={refetch} />;
  if (!data) return <Skeleton height={360} radius={10} />;
  const versions: ListedVersion[] = data.pages.flat().map((version) => ({ ...version, bytes: version.total_size }));
  const mayRollBack = worker.permissions.edit && worker.status !== 'archived';
  return (
    <VersionsView
      versions={versions}
      more={hasNextPage ? { isLoading: isFetchingNextPage, load: () => void fetchNextPage() } : undefined}
      rollBack={mayRollBack ? rollBack : undefined}
      compare={(from, to) => <ComparedVersions workerId={worker.id} from={from} to={to} />}
    />
  );
}

function useRollBack(worker: Worker) {
  const queryClient = useQueryClient();
  const workspaceId = useWorkspace()?.id;
  const move = async (sha: string, message: string | undefined) => {
    const params = { path: { worker_id: worker.id, sha } };
    const body = message ? { message } : {};
    const now = await unwrap((await workerApi()).POST('/api/workers/{worker_id}/rollback/{sha}', { params, body }));
    queryClient.setQueryData(workerKeys.one(workspaceId, worker.id), now);
    void refreshWorkers(queryClient, workspaceId);
  };
  return async ({ version, sha }: ListedVersion, message: string | undefined) => {
    const before = worker.sha;
    await move(sha, message);
    toast(`${worker.name} is as in version ${version} again`, {
      undo: () =>
        void move(before, undefined).catch((error: Error) =>
          toast(`It stays as it is: ${error.message}`, { tone: 'error' }),
        ),
    });
  };
}
