import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { toast } from '../shell/toasts';
import { DownloadIcon } from '../ui/icons';
import { saveFile } from '../ui/save-file';

interface DownloadZipProps {
  /** File name, without its extension. */
  name: string;
  loadZip: () => Promise<Blob>;
}

/** Saves all files of the current version as one zip. */
export function DownloadZipButton({ name, loadZip }: DownloadZipProps) {
  const download = useMutation({
    mutationFn: async () => saveFile(`${name}.zip`, await loadZip()),
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
