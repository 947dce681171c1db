export interface Folder {
  name: string;
  path: string;
  folders: Folder[];
  files: { name: string; path: string }[];
}

/** Builds a tree of folders, each sorted by name. */
export function buildFolderTree(paths: string[]): Folder {
  const root: Folder = { name: '', path: '', folders: [], files: [] };
  const foldersByPath = new Map<string, Folder>([['', root]]);
  const getFolder = (path: string): Folder => {
    const found = foldersByPath.get(path);
    if (found) return found;
    const cut = path.lastIndexOf('/');
    const folder: Folder = { name: path.slice(cut + 1), path, folders: [], files: [] };
    foldersByPath.set(path, folder);
    getFolder(cut < 0 ? '' : path.slice(0, cut)).folders.push(folder);
    return folder;
  };
  for (const path of [...paths].sort()) {
    const cut = path.lastIndexOf('/');
    getFolder(cut < 0 ? '' : path.slice(0, cut)).files.push({ name: path.slice(cut + 1), path });
  }
  return root;
}
