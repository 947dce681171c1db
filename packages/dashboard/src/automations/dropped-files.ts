import type { SelectedFile } from './package-files';

/** Reads the dropped files, including those inside dropped folders. */
export async function readDroppedFiles(items: DataTransferItemList): Promise<SelectedFile[]> {
  // The list is emptied as soon as the event is over.
  const entries = [...items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  return (await Promise.all(entries.map(readEntryFiles))).flat();
}

async function readEntryFiles(entry: FileSystemEntry): Promise<SelectedFile[]> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    return [{ path: entry.fullPath.replace(/^\//, ''), file }];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const found: FileSystemEntry[] = [];
  // A browser gives a hundred at a time, and an empty list at the end.
  for (;;) {
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (batch.length === 0) break;
    found.push(...batch);
  }
  return (await Promise.all(found.map(readEntryFiles))).flat();
}

/** Converts files chosen with the browser's dialog; those of a folder keep their path in it. */
export const toSelectedFiles = (fileList: FileList): SelectedFile[] =>
  [...fileList].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
