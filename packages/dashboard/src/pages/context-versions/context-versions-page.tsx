import type { WorkerSchemas } from '@gantry/sdk';
import { Skeleton } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { FileComparison } from '../../code/file-comparison';
import type { Files } from '../../code/files';
import type { ListedVersion } from '../../code/version-list';
import { VersionsPage } from '../../code/versions-page';
import { ContextLayout } from '../../contexts/context-layout';
import { contextFilesQuery, contextKeys, useUpdateCachedContext } from '../../contexts/use-context-pack';
import { api, type Context } from '../../shell/api';
import { workerRunPath } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { usePagedQuery } from '../../shell/use-paged-query';
import { LoadErrorNotice } from '../../ui/notice';

const NO_FILES: Files = new Map();

/** Lists the versions of a context's files. */
export default function ContextVersionsPage() {
  return (
    <ContextLayout tab="Versions">
      {(context) => <ContextVersions key={context.name} context={context} />}
    </ContextLayout>
  );
}

function ContextVersions({ context }: { context: Context }) {
  const rollBackTo = useRollBack(context);
  const path = { name: context.name };
  const versions = usePagedQuery(
    // Each new version changes the list.
    (workspaceId) => contextKeys.part(workspaceId, context.name, 'versions', { version: context.version }),
    (query) => api.worker.GET('/api/contexts/{name}/versions', { params: { path, query } }),
    { pageSize: 50, placeholderData: keepPreviousData },
  );
  return (
    <VersionsPage
      query={versions}
      toListed={toListedVersion}
      resource={context}
      rollBackTo={context.permissions.edit ? rollBackTo : undefined}
      compare={(from, to) => <VersionComparison name={context.name} from={from} to={to} />}
    />
  );
}

const toListedVersion = (version: WorkerSchemas['ContextVersion']): ListedVersion => ({
  ...version,
  bytes: version.total_size_bytes,
  author: version.run_id === null ? version.author : <Link to={workerRunPath(version.run_id)}>Run</Link>,
});

interface VersionComparisonProps {
  name: string;
  from: ListedVersion | null;
  to: ListedVersion;
}

function VersionComparison({ name, from, to }: VersionComparisonProps) {
  const workspaceId = useWorkspace()?.id;
  const after = useQuery(contextFilesQuery(workspaceId, name, to.sha));
  const before = useQuery({ ...contextFilesQuery(workspaceId, name, from?.sha ?? to.sha), enabled: from !== null });
  const failed = [after, before].find(({ error }) => error);
  if (failed?.error) return <LoadErrorNotice what="The comparison" error={failed.error} retry={failed.refetch} />;
  const filesBefore = from ? before.data : NO_FILES;
  if (!after.data || !filesBefore) return <Skeleton height={240} />;
  return <FileComparison before={filesBefore} after={after.data} />;
}

function useRollBack(context: Context) {
  const updateCachedContext = useUpdateCachedContext();
  return async (sha: string, message: string | undefined) => {
    const params = { path: { name: context.name, sha } };
    const body = message ? { message } : {};
    updateCachedContext(await api.worker.POST('/api/contexts/{name}/rollback/{sha}', { params, body }));
  };
}
