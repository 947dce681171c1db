import { toast } from '../shell/toasts';
import type { FileTreeProps } from './file-tree';
import { type Files, renameFile, validatePath } from './files';

export interface TreeActionsOptions {
  files: Files;
  write: (files: Files) => void;
  select: (path: string) => void;
  /** A file that keeps its name and stays. */
  protectedPath?: string;
  /** Describes why a path is reserved; null where it is not. */
  reserved?: (path: string) => string | null;
}

/** Builds the actions that add, rename and delete files of a draft; a deletion can be undone. */
export const buildTreeActions = ({
  files,
  write,
  select,
  protectedPath,
  reserved,
}: TreeActionsOptions): FileTreeProps['edit'] => ({
  ...(protectedPath !== undefined && { keeps: protectedPath }),
  validate: (path) => validatePath(files, path) ?? reserved?.(path) ?? null,
  onAdd(path) {
    write(new Map(files).set(path, { text: '' }));
    select(path);
  },
  onRename(from, to) {
    write(renameFile(files, from, to));
    select(to);
  },
  onDelete(path) {
    const next = new Map(files);
    next.delete(path);
    write(next);
    toast(`${path} deleted from your draft`, { undo: () => write(files) });
  },
});
