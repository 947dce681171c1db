import { useCallback, useMemo } from 'react';
import { useSearchParams } from 'react-router';
import { getFileParam, setFileParam } from '../shell/paths';
import { toast } from '../shell/toasts';
import type { FileTreeProps } from './file-tree';
import { listChangeKinds, renameFile, validatePath } from './files';
import type { Draft } from './use-draft';

interface DraftTreeOptions<Fallback> {
  draft: Draft;
  canEdit: boolean;
  /** In the order in which the tree shows them. */
  paths: string[];
  /** Selected if the URL names none of `paths`. */
  fallback: Fallback;
  /** A file that keeps its name and stays. */
  protectedPath?: string;
  /** Describes why a path is reserved; null where it is not. */
  reserved?: (path: string) => string | null;
}

/** Keeps the selected file of a draft in the URL. @returns also the properties of the tree of its files */
export function useDraftTree<Fallback extends string | null>(options: DraftTreeOptions<Fallback>) {
  const { draft, canEdit, paths, fallback, protectedPath, reserved } = options;
  const { base, files, write } = draft;
  const [search, setSearch] = useSearchParams();
  const kinds = useMemo(() => listChangeKinds(base, files), [base, files]);
  const requestedPath = getFileParam(search);
  const selected: string | Fallback =
    requestedPath !== null && paths.includes(requestedPath) ? requestedPath : fallback;
  const select = useCallback(
    (path: string) => setSearch((params) => setFileParam(params, path), { replace: true }),
    [setSearch],
  );
  const edit: FileTreeProps['edit'] = canEdit
    ? {
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
      }
    : undefined;
  const tree: FileTreeProps = { label: 'Files', paths, selected, onSelect: select, changes: kinds, edit };
  return { kinds, selected, select, tree };
}
