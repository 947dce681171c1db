import { toast } from '../shell/toasts';
import type { FileTreeProps } from './file-tree';
import { type Files, pathProblem, renamed } from './files';

interface TreeEditOptions {
  files: Files;
  write: (files: Files) => void;
  select: (path: string) => void;
  /** A file that keeps its name and stays. */
  keeps?: string;
  /** In words why a path belongs to something else; null where it does not. */
  reserved?: (path: string) => string | null;
}

/** How a tree adds, renames and deletes files of a draft; a deletion can be undone. */
export const treeEdit = ({ files, write, select, keeps, reserved }: TreeEditOptions): FileTreeProps['edit'] => ({
  ...(keeps !== undefined && { keeps }),
  check: (path) => pathProblem(files, path) ?? reserved?.(path) ?? null,
  onAdd(path) {
    write(new Map(files).set(path, { text: '' }));
    select(path);
  },
  onRename(from, to) {
    write(renamed(files, from, to));
    select(to);
  },
  onDelete(path) {
    const next = new Map(files);
    next.delete(path);
    write(next);
    toast(`${path} is deleted in your draft`, { undo: () => write(files) });
  },
});
