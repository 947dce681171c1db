/** Reports the saves of a worker's folder. */
import fs from 'node:fs';
import path from 'node:path';
import { usageError } from '../errors';
import { isDeployed } from '../worker-folder';

/** An editor writes a file in several steps, which are one save. */
const SAVE_MS = 50;

/**
 * Calls `onSave` after files of the worker were changed. Each folder has a watcher of its own: the recursive one of Node 20 on
 * Linux follows single files, and never again sees one that another file has replaced, as git, `sed -i` and editors do.
 * @returns a function that ends it. @throws CommandError for a folder that is not there
 */
export function watchFolder(dir: string, onSave: () => void): () => void {
  if (!fs.existsSync(dir)) throw usageError(`there is no ${path.resolve(dir)}`, 'A new worker: gantry init');
  let watchers: fs.FSWatcher[] = [];
  let timer: NodeJS.Timeout | undefined;

  function watchBelow(below: string): void {
    const watcher = fs.watch(path.join(dir, below), (event, name) => {
      if (name === null || !isDeployed(path.join(below, name))) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        onSave();
      }, SAVE_MS);
      // It may be a folder that is new, or that has replaced another one.
      if (event === 'rename') restart();
    });
    // A folder that is deleted ends its watcher; the one above reports it.
    watcher.on('error', () => watcher.close());
    watchers.push(watcher);
    for (const entry of fs.readdirSync(path.join(dir, below), { withFileTypes: true })) {
      if (entry.isDirectory() && isDeployed(entry.name)) watchBelow(path.join(below, entry.name));
    }
  }

  function restart(): void {
    for (const watcher of watchers) watcher.close();
    watchers = [];
    try {
      watchBelow('');
    } catch (error) {
      // A folder that was deleted meanwhile: its own report follows.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }

  watchBelow('');
  return () => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
  };
}
