import fs from 'node:fs';

/**
 * Switches to another user permanently. bubblewrap must not be run by root: its processes would keep kernel uid 0,
 * could write the machine's sysctls, and would not be counted by RLIMIT_NPROC.
 *
 * Load every module before calling this: the checkout may be unreadable afterwards.
 */
export function dropPrivileges(uid: number, gid: number): void {
  if (!process.setgroups || !process.setgid || !process.setuid)
    throw new Error('this system does not support user IDs');
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
    throw new Error(`root privileges could not be dropped to uid ${uid}`);
}

/** @throws if this process cannot reach the path, naming the first inaccessible parent. */
export function assertReachable(directory: string): void {
  let at = '';
  for (const part of directory.split('/').filter(Boolean)) {
    at += `/${part}`;
    try {
      fs.accessSync(at, fs.constants.X_OK);
    } catch {
      throw new Error(
        `${at} is not accessible to uid ${process.getuid?.()}, so EXECUTOR_DIR=${directory} can't be used. Choose a directory whose parent directories are accessible to every user, such as /var/lib/gantry-executor.`,
      );
    }
  }
}
