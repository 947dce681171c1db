import { Box, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { FileComparison } from '../../code/file-comparison';
import type { Files } from '../../code/files';
import type { ListedVersion } from '../../code/version-list';
import { api } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { useWorkspaceQuery } from '../../shell/use-workspace-query';
import { LoadErrorNotice } from '../../ui/notice';
import { SettingChanges } from '../../workers/setting-changes';
import { workerKeys } from '../../workers/use-worker';
import { versionFilesQuery } from '../../workers/version-files';
import { VersionPackages } from '../../workers/version-packages';

const NO_FILES: Files = new Map();

interface VersionComparisonProps {
  workerId: string;
  from: ListedVersion | null;
  to: ListedVersion;
}

/** Compares the files and settings of two versions. */
export function VersionComparison({ workerId, from, to }: VersionComparisonProps) {
  const workspaceId = useWorkspace()?.id;
  const after = useQuery(versionFilesQuery(workspaceId, workerId, to.sha));
  const before = useQuery({ ...versionFilesQuery(workspaceId, workerId, from?.sha ?? to.sha), enabled: from !== null });
  const params = { path: { worker_id: workerId, sha: to.sha }, query: from ? { compare_to: from.sha } : {} };
  const detail = useWorkspaceQuery(
    () => workerKeys.part(workspaceId, workerId, 'compared', { from: from?.sha, to: to.sha }),
    () => api.worker.GET('/api/workers/{worker_id}/versions/{sha}', { params }),
    { staleTime: Number.POSITIVE_INFINITY },
  );
  const failed = [after, before, detail].find(({ error }) => error);
  if (failed?.error) return <LoadErrorNotice what="The comparison" error={failed.error} retry={failed.refetch} />;
  const filesBefore = from ? before.data : NO_FILES;
  if (!after.data || !filesBefore || !detail.data) return <Skeleton height={240} />;
  return (
    <>
      <Stack component="section" gap="sm" aria-label="Files">
        <Box component="h2" fz="md">
          Files
        </Box>
        <FileComparison before={filesBefore} after={after.data} />
      </Stack>
      <Stack component="section" gap="sm" aria-label="Settings">
        <Box component="h2" fz="md">
          Settings
        </Box>
        {from ? (
          <SettingChanges changes={detail.data.changes.fields} />
        ) : (
          <Text fz="sm" c="dimmed">
            Select an earlier version to compare settings.
          </Text>
        )}
      </Stack>
      <Stack component="section" gap="sm" aria-label="Packages">
        <Box component="h2" fz="md">
          Packages in version {to.version}
        </Box>
        <VersionPackages workerId={workerId} sha={to.sha} />
      </Stack>
    </>
  );
}
