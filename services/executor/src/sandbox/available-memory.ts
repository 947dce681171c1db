/** The memory that is left for sandboxes: of the machine, or of the cgroup that limits this process. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { CGROUP_ROOT, findOwnGroup } from './cgroup';

/** Returns the memory of the machine, or the limit of this process's cgroup if that is lower, in bytes. */
export function getMachineMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, os.totalmem()) : os.totalmem();
}

/**
 * Returns the memory that is free or can be reclaimed, in bytes. In a cgroup, `process.availableMemory()` counts the
 * page cache as used, and files that were read once fill any limit. As in MemAvailable of proc_meminfo(5), the cache
 * counts as available here.
 */
export function getAvailableMemory(): number {
  const available = process.availableMemory();
  const limit = getMachineMemory();
  return limit === os.totalmem() ? available : Math.min(available + readPageCacheBytes(), limit);
}

/** 0 if it cannot be read. */
function readPageCacheBytes(): number {
  const inV1 = findOwnGroup('memory');
  const root = inV1 === undefined ? CGROUP_ROOT : path.join(CGROUP_ROOT, 'memory');
  // A container may see the path on its machine, but only its own group mounted, as the root.
  const file = [path.join(root, inV1 ?? findOwnGroup() ?? '/'), root]
    .map((directory) => path.join(directory, 'memory.stat'))
    .find((name) => fs.existsSync(name));
  return file ? sumPageCacheBytes(fs.readFileSync(file, 'utf8')) : 0;
}

/** Sums the page cache of a group and its descendants: the `total_` lines in v1, and all lines in v2. */
export function sumPageCacheBytes(memoryStat: string): number {
  const bytes = new Map(
    memoryStat.split('\n').map((line): [string, number] => {
      const [name = '', value] = line.split(' ');
      return [name, Number(value)];
    }),
  );
  const sum = (prefix: string) => {
    const [active, inactive] = [bytes.get(`${prefix}active_file`), bytes.get(`${prefix}inactive_file`)];
    return active === undefined || inactive === undefined ? undefined : active + inactive;
  };
  return sum('total_') ?? sum('') ?? 0;
}
