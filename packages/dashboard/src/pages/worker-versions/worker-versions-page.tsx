import { keepPreviousData } from '@tanstack/react-query';
import { VersionsPage } from '../../code/versions-page';
import { api, type Worker } from '../../shell/api';
import { usePagedQuery } from '../../shell/use-paged-query';
import { canEditWorker } from '../../workers/can-edit-worker';
import { useUpdateCachedWorker, workerKeys } from '../../workers/use-worker';
import { WorkerLayout } from '../../workers/worker-layout';
import { CandidatesPanel } from './candidates-panel';
import { VersionComparison } from './version-comparison';

/** Lists the versions of a worker's files and settings. */
export default function WorkerVersionsPage() {
  return (
    <WorkerLayout tab="Versions">
      {(worker) => (
        <>
          <CandidatesPanel workerId={worker.id} />
          <WorkerVersions key={worker.id} worker={worker} />
        </>
      )}
    </WorkerLayout>
  );
}

function WorkerVersions({ worker }: { worker: Worker }) {
  const rollBackTo = useRollBack(worker);
  const path = { worker_id: worker.id };
  const versions = usePagedQuery(
    // Each new version changes the list.
    (workspaceId) => workerKeys.part(workspaceId, worker.id, 'versions', { version: worker.version }),
    (query) => api.worker.GET('/api/workers/{worker_id}/versions', { params: { path, query } }),
    { pageSize: 50, placeholderData: keepPreviousData },
  );
  return (
    <VersionsPage
      query={versions}
      toListed={(version) => ({ ...version, bytes: version.total_size })}
      resource={worker}
      rollBackTo={canEditWorker(worker) ? rollBackTo : undefined}
      compare={(from, to) => <VersionComparison workerId={worker.id} from={from} to={to} />}
    />
  );
}

function useRollBack(worker: Worker) {
  const updateCachedWorker = useUpdateCachedWorker();
  return async (sha: string, message: string | undefined) => {
    const params = { path: { worker_id: worker.id, sha } };
    const body = message ? { message } : {};
    updateCachedWorker(await api.worker.POST('/api/workers/{worker_id}/rollback/{sha}', { params, body }));
  };
}
