import { Button, Group, Skeleton, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { FileComparison } from '../code/file-comparison';
import type { Files } from '../code/files';
import { api, type Worker } from '../shell/api';
import { toast } from '../shell/toasts';
import { Dialog } from '../ui/dialog';
import { ErrorNotice, LoadErrorNotice } from '../ui/notice';
import { useInvalidateWorkers } from './use-worker';
import { useVersionFiles } from './version-files';

const NO_FILES: Files = new Map();

/** Shows the code and access of a version; a button approves exactly this version. */
export default function ApproveVersionDialog({ worker, onClose }: { worker: Worker; onClose: () => void }) {
  const { id, sha, version, permissions } = worker;
  const invalidateWorkers = useInvalidateWorkers();
  const { data: files, error, refetch } = useVersionFiles(id, sha);
  const approve = useMutation({
    mutationFn: () =>
      api.worker.POST('/api/workers/{worker_id}/versions/{sha}/approve', {
        params: { path: { worker_id: id, sha } },
      }),
    onSuccess: async () => {
      toast(`Version ${version} of ${worker.name} approved`);
      await invalidateWorkers();
      onClose();
    },
  });
  return (
    <Dialog title={`Version ${version} of ${worker.name}`} onClose={onClose} wide>
      <Stack gap="md" p="lg">
        <VersionAccess worker={worker} />
        {error && <LoadErrorNotice what="The code" error={error} retry={refetch} />}
        {files ? <FileComparison before={NO_FILES} after={files} /> : !error && <Skeleton height={240} />}
        <ErrorNotice title="Version not approved" error={approve.error} />
        <Group gap="xs" align="stretch">
          {permissions.approve_version && (
            <Button loading={approve.isPending} disabled={!files} onClick={() => approve.mutate()}>
              Approve version {version}
            </Button>
          )}
          <Button variant="default" onClick={onClose}>
            Not now
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

function VersionAccess({ worker }: { worker: Worker }) {
  const { secrets, connections, network, python_dependencies: packages } = worker;
  const hosts =
    typeof network === 'object' ? network.allow.join(', ') : network === 'none' ? 'None' : 'Any public address';
  const formatNames = (list: string[]) => list.join(', ') || 'None';
  return (
    <dl>
      <dt>Secrets</dt>
      <dd>{formatNames(secrets)}</dd>
      <dt>Connections</dt>
      <dd>{formatNames(connections)}</dd>
      <dt>Network</dt>
      <dd>{hosts}</dd>
      <dt>Python packages</dt>
      <dd>{formatNames(packages)}</dd>
    </dl>
  );
}
