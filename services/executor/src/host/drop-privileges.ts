import fs from 'node:fs';

/**
 * Becomes another user for good. bubblewrap must not be run by root: what is inside would keep kernel uid 0, could write
 * the machine's sysctls, and would not be counted by RLIMIT_NPROC.
 *
 * Every module must be loaded before this: the checkout may be unreadable afterwards.
 */
export function dropPrivileges(uid: number, gid: number): void {
  if (!process.setgroups || !process.setgid || !process.setuid) throw new Error('this platform has no users');
  process.setgroups([]);
  process.setgid(gid);
  process.setuid(uid);
  let regained = true;
  try {
    process.setuid(0);
  } catch {
    regained = false;
  }
  if (regained || process.getuid?.() !== uid || process.geteuid?.() !== uid)
    throw new Error(`root was not given up for uid ${uid}`);
}

/** @throws when the path can't be reached by this process, naming the first parent that is closed to it. */
export function requireReachable(directory: string): void {
  let at = '';
  for (const part of directory.split('/').filter(Boolean)) {
    at += `/${part}`;
    try {
      fs.accessSync(at, fs.constants.X_OK);
    } catch {
      throw new Error(
        `${at} is closed to uid ${process.getuid?.()}, so EXECUTOR_DIR=${directory} can't be used. Choose a directory whose parents everybody may enter, such as /var/lib/gantry-executor.`,
      );
    }
  }
}
