import { unwrap } from '@gantry/api-client';
import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type Worker, workerApi } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { DownloadIcon } from '../../ui/icons';
import { saveFile } from '../../ui/save-file';

/** The current version as a zip that another installation can read. */
export function DownloadBundle({ worker }: { worker: Worker }) {
  const download = useMutation({
    mutationFn: async () => {
      const params = { path: { worker_id: worker.id } };
      const answer = (await workerApi()).GET('/api/workers/{worker_id}/bundle.zip', { params, parseAs: 'blob' });
      saveFile(`${worker.id}.zip`, await unwrap(answer));
    },
    onError: (error) => toast(`Not downloaded: ${error.message}`, { tone: 'error' }),
  });
  return (
    <Button
      variant="default"
      leftSection={<DownloadIcon />}
      loading={download.isPending}
      onClick={() => download.mutate()}
    >
      Download
    </Button>
  );
}
