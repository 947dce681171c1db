import { Button, Group } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ChangeEvent, useId, useRef } from 'react';
import type { Files } from '../code/files';
import { DropZone } from '../ui/drop-zone';
import { ErrorNotice } from '../ui/notice';
import { readDroppedFiles, toSelectedFiles } from './dropped-files';
import { readPackage, type SelectedFile } from './package-files';

/** Supported by every browser, but missing from the types. */
const DIRECTORY_ATTRIBUTES = { webkitdirectory: '' };

interface PackageDropZoneProps {
  onFiles: (files: Files) => void;
}

/** Takes a zip or a folder, dropped or chosen. */
export function PackageDropZone({ onFiles }: PackageDropZoneProps) {
  const zip = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const id = useId();
  const read = useMutation({
    mutationFn: async (chosen: Promise<SelectedFile[]>) => readPackage(await chosen),
    onSuccess: onFiles,
  });
  function handleFileInputChange(event: ChangeEvent<HTMLInputElement>) {
    const { files } = event.currentTarget;
    if (files?.length) read.mutate(Promise.resolve(toSelectedFiles(files)));
    // Lets the same file be chosen again after it was changed.
    event.currentTarget.value = '';
  }
  return (
    <>
      <DropZone disabled={false} onDrop={({ items }) => read.mutate(readDroppedFiles(items))}>
        <Group
          component="section"
          gap="12px 24px"
          justify="space-between"
          p="16px 24px"
          bd="1px dashed var(--line-strong)"
          bdrs={10}
          fz="sm"
          c="dimmed"
          aria-labelledby={id}
        >
          <p id={id}>Drop a zip file or folder here, or start with the files below.</p>
          <Group gap="xs" align="stretch">
            <Button variant="default" loading={read.isPending} onClick={() => zip.current?.click()}>
              Choose a zip file…
            </Button>
            <Button variant="default" disabled={read.isPending} onClick={() => folder.current?.click()}>
              Choose a folder…
            </Button>
          </Group>
          <input ref={zip} type="file" accept=".zip" aria-label="Zip" hidden onChange={handleFileInputChange} />
          <input
            ref={folder}
            type="file"
            aria-label="Folder"
            hidden
            {...DIRECTORY_ATTRIBUTES}
            onChange={handleFileInputChange}
          />
        </Group>
      </DropZone>
      <ErrorNotice title="This package can’t be used" error={read.error} />
    </>
  );
}
