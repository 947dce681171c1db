import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { toast } from '../shell/toasts';
import { downloadFile } from '../ui/download-file';
import { DownloadIcon } from '../ui/icons';

interface DownloadZipButtonProps {
  /** File name, without its extension. */
  name: string;
  loadZip: () => Promise<Blob>;
}

/** Saves all files of the current version as one zip. */
export function DownloadZipButton({ name, loadZip }: DownloadZipButtonProps) {
  const download = useMutation({
    mutationFn: async () => downloadFile(`${name}.zip`, await loadZip()),
    onError: (error) => toast(`Download failed: ${error.message}`, { tone: 'error' }),
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
