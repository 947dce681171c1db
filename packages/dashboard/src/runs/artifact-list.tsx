import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { downloadFile } from '../ui/download-file';
import { formatFileSize } from '../ui/format';
import { DownloadIcon } from '../ui/icons';
import { ListItem } from '../ui/list-item';
import { ErrorNotice } from '../ui/notice';
import styles from './artifact-list.module.css';
import { type ArtifactFile, canPreview } from './artifact-preview-kind';

const ArtifactPreview = lazy(() => import('./artifact-preview'));

interface ArtifactListProps {
  files: ArtifactFile[];
  loadFile: (file: ArtifactFile) => Promise<Blob>;
}

/** Lists the files that a run created. */
export const ArtifactList = ({ files, loadFile }: ArtifactListProps) => (
  <ul className={`panel-list divided rows ${styles.files}`}>
    {files.map((file) => (
      <ArtifactItem key={file.id} file={file} loadFile={loadFile} />
    ))}
  </ul>
);

function ArtifactItem({ file, loadFile }: { file: ArtifactFile; loadFile: ArtifactListProps['loadFile'] }) {
  const [open, setOpen] = useState(false);
  const download = useMutation({
    mutationFn: async () => downloadFile(file.name, await loadFile(file)),
  });
  return (
    <>
      <ListItem title={file.name} about={formatFileSize(file.size)}>
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
        <ErrorNotice title="Download failed" error={download.error} />
      </ListItem>
      {open && (
        <li className={styles.preview}>
          <Suspense>
            <ArtifactPreview file={file} read={() => loadFile(file)} />
          </Suspense>
        </li>
      )}
    </>
  );
}
