/** Files of a worker or a context while they are edited. */
import type { WorkerSchemas } from '@gantry/sdk';

type TreeFile = WorkerSchemas['TreeFile'];
export type FileChange = WorkerSchemas['FileChange'];

export type FileContent = { text: string } | { base64: string };
export type Files = ReadonlyMap<string, FileContent>;

/** Reads the files of a version, which never changes. */
export interface FilesQuery {
  queryKey: readonly unknown[];
  queryFn: () => Promise<Files>;
  enabled: boolean;
  staleTime: number;
}

export const toFiles = (tree: TreeFile[]): Files =>
  new Map(
    tree.map(({ path, content, content_base64: base64 }) => [
      path,
      base64 === undefined ? { text: content ?? '' } : { base64 },
    ]),
  );

export const findText = (files: Files, path: string): string | null => {
  const content = files.get(path);
  return content && 'text' in content ? content.text : null;
};

const isSameContent = (a: FileContent | undefined, b: FileContent | undefined): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

export const CHANGE_KIND_LABELS = { added: 'Added', modified: 'Changed', deleted: 'Deleted' };

export type ChangeKind = keyof typeof CHANGE_KIND_LABELS;

/** Lists the kind of change of each file, sorted by path. */
export function listChangeKinds(before: Files, after: Files): ReadonlyMap<string, ChangeKind> {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  return new Map(
    paths.flatMap((path): [string, ChangeKind][] => {
      const [old, now] = [before.get(path), after.get(path)];
      if (isSameContent(old, now)) return [];
      return [[path, !old ? 'added' : now ? 'modified' : 'deleted']];
    }),
  );
}

/** Lists the changes that a request sends to get from `before` to `after`. */
export const diffFiles = (before: Files, after: Files): FileChange[] =>
  [...listChangeKinds(before, after).keys()].map((path) => {
    const now = after.get(path);
    if (!now) return { path, delete: true };
    return 'text' in now ? { path, content: now.text } : { path, content_base64: now.base64 };
  });

export function applyChanges(files: Files, changes: FileChange[]): Files {
  const changed = new Map(files);
  for (const { path, content, content_base64: base64 } of changes) {
    if (content !== undefined) changed.set(path, { text: content });
    else if (base64 !== undefined) changed.set(path, { base64 });
    else changed.delete(path);
  }
  return changed;
}

export function renameFile(files: Files, from: string, to: string): Files {
  const content = files.get(from);
  if (!content) return files;
  const changed = new Map(files);
  changed.delete(from);
  changed.set(to, content);
  return changed;
}

const PATH_CHARS_MAX = 1_024;

/** Describes the problem with the path of a new file; null without one. */
export function validatePath(files: Files, path: string): string | null {
  if (!path) return 'Enter a file name.';
  if (path.length > PATH_CHARS_MAX) return 'The name is too long.';
  if (path.startsWith('/') || path.endsWith('/') || path.includes('//')) return 'Use a path like lib/prices.py.';
  if (path.includes('\\')) return 'Use / to separate folders.';
  if (path.split('/').some((part) => part === '.' || part === '..'))
    return 'The path can’t contain “.” or “..” segments.';
  const taken = [...files.keys()].find((one) => one.toLowerCase() === path.toLowerCase());
  if (taken) return `${taken} already exists.`;
  const inside = [...files.keys()].find((one) => one.startsWith(`${path}/`) || path.startsWith(`${one}/`));
  return inside ? `${inside} conflicts with this path: a file and a folder can’t share a name.` : null;
}
