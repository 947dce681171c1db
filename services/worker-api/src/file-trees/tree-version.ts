import { toApiFields } from '@gantry/http';
import type { FileEntry } from './file-tree';

/** A version of a worker or of a context. */
interface TreeVersion {
  number: number;
  sha: string;
  message: string | null;
  authorLabel: string | null;
  authorId: string | null;
  changeSource: string;
  files: Pick<FileEntry, 'size'>[];
  createdAt: Date;
}

export const sumBytes = (files: Pick<FileEntry, 'size'>[]): number => files.reduce((sum, { size }) => sum + size, 0);

/** The fields that the API shows of every version. */
export const treeVersionToItem = (version: TreeVersion, currentVersion: number) => ({
  version: version.number,
  ...toApiFields(version, 'sha', 'message', 'authorId', 'changeSource', 'createdAt'),
  current: version.number === currentVersion,
  author: version.authorLabel,
  file_count: version.files.length,
});
