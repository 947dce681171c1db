import { Skeleton } from '@mantine/core';
import { useMemo } from 'react';
import { Link, Navigate } from 'react-router';
import { formatManifest, MANIFEST_PATH } from '../../automations/manifest';
import { buildWorkerManifest, findPublishProblem } from '../../automations/worker-manifest';
import { DraftConflict } from '../../code/draft-conflict';
import type { FilesQuery } from '../../code/files';
import { type DraftSource, useDraft } from '../../code/use-draft';
import type { Worker } from '../../shell/api';
import { workerPath } from '../../shell/paths';
import { LoadErrorNotice } from '../../ui/notice';
import { useWorker, workerKeys } from '../../workers/use-worker';
import { versionFilesQuery } from '../../workers/version-files';
import { NewAutomationEditor } from './new-automation-editor';

interface NewAutomationFromWorkerProps {
  workspaceId: string;
  workerId: string;
}

/** Creates an automation from the files of a worker. */
export function NewAutomationFromWorker({ workspaceId, workerId }: NewAutomationFromWorkerProps) {
  const { data: worker, error, refetch } = useWorker(workerId);
  if (error && !worker) return <LoadErrorNotice what="The worker" error={error} retry={refetch} />;
  if (!worker) return <Skeleton height={480} radius={10} />;
  if (findPublishProblem(worker) !== null) return <Navigate to={workerPath(workerId, 'workerPublish')} replace />;
  return <PublishedWorkerEditor workspaceId={workspaceId} worker={worker} />;
}

function PublishedWorkerEditor({ workspaceId, worker }: { workspaceId: string; worker: Worker }) {
  const { id, name, sha, version, entrypoint, updated_at: updatedAt } = worker;
  const manifest = formatManifest(buildWorkerManifest(worker));
  const source = useMemo(
    (): DraftSource => ({
      key: `${workspaceId}.new-automation.${id}`,
      name: 'the new automation',
      sha,
      canEdit: true,
      getFilesQuery: (version) => packageFilesQuery(workspaceId, id, version, manifest),
    }),
    [workspaceId, id, sha, manifest],
  );
  const { draft, error, retry } = useDraft(source);
  if (error && !draft) return <LoadErrorNotice what="The code" error={error} retry={retry} />;
  if (!draft) return <Skeleton height={480} radius={10} />;
  const isOutdated = draft.baseSha !== sha && draft.changes.length > 0;
  return (
    <NewAutomationEditor
      draft={draft}
      entrypoint={entrypoint}
      about={
        <span>
          Based on the worker <Link to={workerPath(id)}>{name}</Link>.{' '}
          <Link to={workerPath(id, 'workerPublish')}>See what isn’t copied</Link>
        </span>
      }
    >
      {isOutdated && (
        <DraftConflict
          source={source}
          draft={draft}
          newer={{ version, author: null, message: null, created_at: updatedAt }}
        />
      )}
    </NewAutomationEditor>
  );
}

/** Loads the files of a worker's version with the manifest of its automation. */
function packageFilesQuery(workspaceId: string, workerId: string, sha: string, manifest: string): FilesQuery {
  const { queryFn, ...query } = versionFilesQuery(workspaceId, workerId, sha);
  return {
    ...query,
    queryKey: workerKeys.part(workspaceId, workerId, 'package', { sha, manifest }),
    queryFn: async () => new Map(await queryFn()).set(MANIFEST_PATH, { text: manifest }),
  };
}
