import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { formatFileSize } from '../ui/format';
import { DownloadIcon } from '../ui/icons';
import { ListItem } from '../ui/list-item';
import { Failure } from '../ui/notice';
import content from '../ui/panel-content.module.css';
import { saveFile } from '../ui/save-file';
import { canPreview, type SavedFile } from './artifact-kind';
import styles from './artifact-list.module.css';

const ArtifactPreview = lazy(() => import('./artifact-preview'));

interface ArtifactListProps {
  files: SavedFile[];
  read: (file: SavedFile) => Promise<Blob>;
}

/** Lists the files that a run created. */
export const ArtifactList = ({ files, read }: ArtifactListProps) => (
  <ul className={`${content.list} ${styles.files}`}>
    {files.map((file) => (
      <ArtifactItem key={file.id} file={file} read={read} />
    ))}
  </ul>
);

function ArtifactItem({ file, read }: { file: SavedFile; read: ArtifactListProps['read'] }) {
  const [open, setOpen] = useState(false);
  const download = useMutation({
    mutationFn: async () => saveFile(file.name, await read(file)),
  });
  return (
    <>
      <ListItem what={file.name} about={formatFileSize(file.size)}>
        {canPreview(file) && (
          <Button
            variant="default"
            aria-label={`${open ? 'Close' : 'Preview'} ${file.name}`}
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          >
            {open ? 'Close' : 'Preview'}
          </Button>
        )}
        <Button
          variant="default"
          leftSection={<DownloadIcon />}
          aria-label={`Download ${file.name}`}
          loading={download.isPending}
          onClick={() => download.mutate()}
        >
          Download
        </Button>
        <Failure title="Not downloaded" error={download.error} />
      </ListItem>
      {open && (
        <li className={styles.preview}>
          <Suspense>
            <ArtifactPreview file={file} read={() => read(file)} />
          </Suspense>
        </li>
      )}
    </>
  );
}
