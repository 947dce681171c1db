import { Skeleton } from '@mantine/core';
import { useMemo } from 'react';
import { type DraftSource, useDraft } from '../../code/use-draft';
import type { Worker } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { LoadErrorNotice } from '../../ui/notice';
import { canEditWorker } from '../../workers/can-edit-worker';
import { versionFilesQuery } from '../../workers/version-files';
import { WorkerLayout } from '../../workers/worker-layout';
import { CodeWorkspace } from './code-workspace';
import { PackagesStatus } from './packages-status';

/** Shows the files of a worker, which can be edited, tested as a draft, and saved as a version. */
export default function WorkerCodePage() {
  return <WorkerLayout tab="Code">{(worker) => <WorkerCode key={worker.id} worker={worker} />}</WorkerLayout>;
}

function WorkerCode({ worker }: { worker: Worker }) {
  const workspaceId = useWorkspace()?.id;
  const { id, name, sha } = worker;
  const canEdit = canEditWorker(worker);
  const source = useMemo(
    (): DraftSource => ({
      key: `${workspaceId}.${id}`,
      name,
      sha,
      canEdit,
      getFilesQuery: (version) => versionFilesQuery(workspaceId, id, version),
    }),
    [workspaceId, id, name, sha, canEdit],
  );
  const { draft, error, retry } = useDraft(source);
  if (draft) {
    return (
      <>
        <PackagesStatus worker={worker} />
        <CodeWorkspace worker={worker} source={source} draft={draft} />
      </>
    );
  }
  if (error) return <LoadErrorNotice what="The code" error={error} retry={retry} />;
  return <Skeleton height={480} radius={10} />;
}
