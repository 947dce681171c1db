import { useCallback, useMemo } from 'react';
import { useSearchParams } from 'react-router';
import { getFileParam, setFileParam } from '../shell/paths';
import type { FileTreeProps } from './file-tree';
import { listChangeKinds } from './files';
import { buildTreeActions, type TreeActionsOptions } from './tree-actions';
import type { Draft } from './use-draft';

interface DraftTreeOptions<Fallback> extends Pick<TreeActionsOptions, 'protectedPath' | 'reserved'> {
  draft: Draft;
  canEdit: boolean;
  /** In the order in which the tree shows them. */
  paths: string[];
  /** Selected if the URL names none of `paths`. */
  fallback: Fallback;
}

/** Keeps the selected file of a draft in the URL. @returns also the properties of the tree of its files */
export function useDraftTree<Fallback extends string | null>(options: DraftTreeOptions<Fallback>) {
  const { draft, canEdit, paths, fallback, ...editOptions } = options;
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
  const edit = canEdit ? buildTreeActions({ files, write, select, ...editOptions }) : undefined;
  const tree: FileTreeProps = { label: 'Files', paths, selected, onSelect: select, changes: kinds, edit };
  return { kinds, selected, select, tree };
}
