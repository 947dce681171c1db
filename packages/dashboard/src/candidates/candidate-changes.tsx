import { Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { FileComparison } from '../code/file-comparison';
import { type CandidateDetail, hasErrorStatus } from '../shell/api';
import { useWorkspace } from '../shell/use-me';
import { LoadErrorNotice } from '../ui/notice';
import { SettingChanges } from '../workers/setting-changes';
import { versionFilesQuery } from '../workers/version-files';
import { candidateFilesQuery } from './candidate-queries';

/** Shows the changes of a candidate against its base version: diffs of files, then settings. */
export function CandidateChanges({ candidate }: { candidate: CandidateDetail }) {
  const workspaceId = useWorkspace()?.id;
  const { id, worker_id: workerId, base_sha: baseSha, changes } = candidate;
  const hasFiles = changes.files.length > 0;
  const before = useQuery({ ...versionFilesQuery(workspaceId, workerId, baseSha), enabled: hasFiles });
  const after = useQuery({ ...candidateFilesQuery(workspaceId, workerId, id), enabled: hasFiles, retry: false });
  const failed = [before, after].find(({ error }) => error);
  return (
    <Stack gap="md">
      {!hasFiles ? null : hasErrorStatus(after.error, 404) ? (
        <Text fz="sm" c="dimmed">
          This candidate was dropped, so its file changes are no longer available.
        </Text>
      ) : failed?.error ? (
        <LoadErrorNotice what="The changes" error={failed.error} retry={failed.refetch} />
      ) : before.data && after.data ? (
        <FileComparison before={before.data} after={after.data} />
      ) : (
        <Skeleton height={200} />
      )}
      {changes.fields.length > 0 && <SettingChanges changes={changes.fields} />}
      {!hasFiles && changes.fields.length === 0 && (
        <Text fz="sm" c="dimmed">
          No changes.
        </Text>
      )}
    </Stack>
  );
}
