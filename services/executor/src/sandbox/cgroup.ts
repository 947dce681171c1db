/**
 * Limits memory and processes of a run as a whole (rlimits are per process), on cgroup v2 or v1, where a tree is
 * writable: started as root, delegated by systemd, or a container with writable cgroups.
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isAbandoned, ownerTag } from '../host/owner-tag';

export const CGROUP_ROOT = '/sys/fs/cgroup';

export type Cgroups = ReturnType<typeof createReusableGroups>;
export type GroupPool = ReturnType<Cgroups['pool']>;
export type RunCgroup = Awaited<ReturnType<Cgroups['confine']>>;

type Trees = { version: 2; base: string; runs: string } | { version: 1; memory: string; pids: string };

/** Returns the path of this process's group in the v2 tree, or in the v1 tree of a controller; undefined: in none. */
export function findOwnGroup(controller = ''): string | undefined {
  const lines = fs.readFileSync('/proc/self/cgroup', 'utf8').split('\n');
  const [, , ...group] =
    lines.map((line) => line.split(':')).find((line) => line[1]?.split(',').includes(controller)) ?? [];
  return group.length > 0 ? group.join(':') : undefined;
}

/** Finds the cgroup trees. Executors of several users may share a machine: each user has its own group. */
function findCgroupTrees(uid: number): Trees | null {
  const group = `gantry-runs-${uid}`;
  if (fs.existsSync(path.join(CGROUP_ROOT, 'cgroup.controllers'))) {
    const own = findOwnGroup() ?? '/';
    // After prepareCgroups() this process is in a leaf next to the runs' groups.
    const base = path.join(CGROUP_ROOT, own.replace(/\/gantry-executor$/, ''));
    return { version: 2, base, runs: path.join(base, group) };
  }
  const memory = path.join(CGROUP_ROOT, 'memory', group);
  return fs.existsSync(path.dirname(memory))
    ? { version: 1, memory, pids: path.join(CGROUP_ROOT, 'pids', group) }
    : null;
}

/**
 * Runs as root, before the uid is dropped: creates the trees and makes that uid their owner. Does nothing if it
 * cannot.
 */
export function prepareCgroups(uid: number, gid: number): void {
  const trees = findCgroupTrees(uid);
  try {
    if (trees?.version === 1) {
      for (const tree of [trees.memory, trees.pids]) {
        fs.mkdirSync(tree, { recursive: true });
        for (const file of ['', 'cgroup.procs', 'tasks']) fs.chownSync(path.join(tree, file), uid, gid);
      }
    } else if (trees) {
      // A v2 group that delegates controllers may contain no process itself, so this process moves to its own leaf.
      const leaf = path.join(trees.base, 'gantry-executor');
      const { runs } = trees;
      for (const directory of [leaf, runs]) fs.mkdirSync(directory, { recursive: true });
      writeValue(leaf, 'cgroup.procs', process.pid);
      writeValue(trees.base, 'cgroup.subtree_control', '+memory +pids');
      writeValue(runs, 'cgroup.subtree_control', '+memory +pids');
      // Moving a process needs write access to the common ancestor's list too.
      fs.chownSync(path.join(trees.base, 'cgroup.procs'), uid, gid);
      for (const file of ['', 'cgroup.procs', 'cgroup.subtree_control']) fs.chownSync(path.join(runs, file), uid, gid);
    }
  } catch {
    // Read-only cgroups are common in containers: openCgroups() then returns null, and the memory of runs is polled.
  }
}

/**
 * Opens the cgroups; null where no tree is writable. Removes leftovers of a killed executor, including its processes.
 * @param uid the user that they were prepared for
 */
export function openCgroups(uid = process.geteuid?.()): Cgroups | null {
  const trees = uid === undefined ? null : findCgroupTrees(uid);
  if (!trees) return null;
  const bases = trees.version === 2 ? [trees.runs] : [trees.memory, trees.pids];
  try {
    for (const base of bases) {
      const probe = path.join(base, `${ownerTag}-probe`);
      fs.mkdirSync(probe);
      fs.accessSync(
        path.join(probe, trees.version === 2 || base === trees.memory ? getMemoryFile(trees.version) : 'pids.max'),
        fs.constants.W_OK,
      );
      fs.rmdirSync(probe);
      removeAbandoned(base);
    }
  } catch {
    return null;
  }
  return createReusableGroups(trees.version, bases);
}

const getMemoryFile = (version: 1 | 2) => (version === 2 ? 'memory.max' : 'memory.limit_in_bytes');

interface Group {
  /** One directory for all controllers, or one for each. */
  directories: string[];
  /** The limits currently set in the kernel. */
  memoryBytes?: number;
  processes?: number;
  oomKills: number;
}

/** Creates groups that are reused, since creating and removing a pair costs more than a millisecond of CPU. */
function createReusableGroups(version: 1 | 2, bases: string[]) {
  const free: Group[] = [];
  const prefix = randomBytes(4).toString('hex');
  let createdCount = 0;

  function createGroup(): Group {
    createdCount++;
    const directories = bases.map((base) => path.join(base, `${ownerTag}-${prefix}-${createdCount}`));
    for (const directory of directories) fs.mkdirSync(directory);
    if (version === 2) {
      const [only = ''] = directories;
      writeValue(only, 'memory.swap.max', 0, { optional: true });
      writeValue(only, 'memory.oom.group', 1);
    }
    return { directories, oomKills: 0 };
  }

  function createRunCgroup(group: Group, onRelease: { empty: () => void; stuck: () => void }) {
    const [memory = '', pids = memory] = group.directories;
    return {
      limit(memoryBytes: number, processes: number) {
        if (group.memoryBytes !== memoryBytes) writeValue(memory, getMemoryFile(version), memoryBytes);
        if (group.processes !== processes) writeValue(pids, 'pids.max', processes);
        Object.assign(group, { memoryBytes, processes });
      },
      wasOomKilled() {
        const before = group.oomKills;
        group.oomKills = countOomKills(version, memory);
        return group.oomKills > before;
      },
      /** Makes the group available to another run once all its processes have ended. */
      release: () => waitUntilEmpty(group.directories, onRelease),
    };
  }

  async function confineProcess(pid: number) {
    const group = free.pop() ?? createGroup();
    const cgroup = createRunCgroup(group, {
      empty: () => free.push(group),
      stuck: () => removeWithRetries(group.directories, 0),
    });
    try {
      for (const directory of group.directories) await writeFile(path.join(directory, 'cgroup.procs'), String(pid));
    } catch (err) {
      cgroup.release();
      throw err;
    }
    return cgroup;
  }

  function createPool(count: number) {
    const groups = Array.from({ length: count }, createGroup);
    // `tasks` moves one thread, for which v1 needs no synchronisation; v2 only moves whole processes.
    const file = version === 2 ? 'cgroup.procs' : 'tasks';
    const files = groups.flatMap(({ directories }) =>
      directories.map((directory) => fs.openSync(path.join(directory, file), 'w')),
    );
    const unused = groups.map((group, i) => ({ group, places: bases.map((_, j) => i * bases.length + j) }));
    let removed = false;
    return {
      /** Descriptors for the zygote to inherit: a process that writes `0` into one joins its group. */
      files,
      /** Acquires an empty group, and the indices in `files` that its process must write to. Undefined if none is left. */
      acquire() {
        const acquired = unused.pop();
        if (!acquired) return undefined;
        const remove = () => removeWithRetries(acquired.group.directories, EMPTY_TRIES);
        const empty = () => (removed ? remove() : void unused.push(acquired));
        return { cgroup: createRunCgroup(acquired.group, { empty, stuck: remove }), places: acquired.places };
      },
      /** Closes the files once the zygote has inherited them. */
      closeFiles: () => files.splice(0).forEach((fd) => void fs.closeSync(fd)),
      /** Removes the groups once the zygote has exited. */
      remove() {
        removed = true;
        for (const { group } of unused.splice(0)) removeWithRetries(group.directories, EMPTY_TRIES);
      },
    };
  }

  return {
    version,
    /**
     * Moving another process makes the kernel synchronise all CPUs, 5 to 13 ms unless one was moved just before. It
     * therefore happens off the event loop, and while the process still waits for its run.
     * @param pid in this process's pid namespace.
     */
    confine: confineProcess,
    /**
     * Creates groups for up to `count` concurrent children of a zygote, which join by themselves: on v1 without
     * synchronisation.
     */
    pool: createPool,
  };
}

function countOomKills(version: 1 | 2, directory: string): number {
  try {
    const counters = fs.readFileSync(
      path.join(directory, version === 2 ? 'memory.events' : 'memory.oom_control'),
      'utf8',
    );
    return Number(/oom_kill (\d+)/.exec(counters)?.[1] ?? 0);
  } catch {
    return 0;
  }
}

const EMPTY_POLL_MS = 50;
const EMPTY_TRIES = 40;

/** Waits for empty groups: a run's first process ends before the kernel has released everything that it started. */
function waitUntilEmpty(
  directories: string[],
  callbacks: { empty: () => void; stuck: () => void },
  tries = EMPTY_TRIES,
): void {
  const isEmpty = (directory: string) => fs.readFileSync(path.join(directory, 'cgroup.procs'), 'utf8') === '';
  if (directories.every(isEmpty)) callbacks.empty();
  else if (tries === 0) callbacks.stuck();
  else setTimeout(() => waitUntilEmpty(directories, callbacks, tries - 1), EMPTY_POLL_MS).unref();
}

/** Removes groups, with retries: one is busy until the kernel has released its last process. */
function removeWithRetries(directories: string[], tries: number): void {
  const left = directories.filter((directory) => {
    try {
      fs.rmdirSync(directory);
      return false;
    } catch (err) {
      return (err as NodeJS.ErrnoException).code !== 'ENOENT';
    }
  });
  if (left.length && tries) setTimeout(() => removeWithRetries(left, tries - 1), 50).unref();
}

function removeAbandoned(base: string): void {
  for (const name of fs.readdirSync(base)) {
    if (!isAbandoned(name)) continue;
    const directory = path.join(base, name);
    for (const pid of fs.readFileSync(path.join(directory, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean)) {
      try {
        process.kill(Number(pid), 'SIGKILL');
      } catch {
        // It ended in between, or belongs to another user: rmdir below reports whether that matters.
      }
    }
    removeWithRetries([directory], 40);
  }
}

function writeValue(directory: string, file: string, value: string | number, options?: { optional: boolean }): void {
  try {
    fs.writeFileSync(path.join(directory, file), String(value));
  } catch (err) {
    if (!options?.optional) throw err;
  }
}
