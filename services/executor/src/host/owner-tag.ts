import fs from 'node:fs';

/**
 * Files and cgroups created by this process carry its pid and start time, so that the next executor can recognise
 * leftovers of a killed one. The start time makes it work in containers, where every process is pid 1.
 */
export const ownerTag = `${process.pid}-${findStartTime(process.pid)}`;

/** Returns whether a name that begins with an owner's tag belongs to a process that no longer exists. */
export function isAbandoned(name: string): boolean {
  const owner = /^(\d+)-(\d+)-/.exec(name);
  return owner !== null && findStartTime(Number(owner[1])) !== owner[2];
}

/** Reads field 22 of /proc/<pid>/stat: clock ticks since boot. '' for a dead process, reaped by its parent or not. */
function findStartTime(pid: number): string {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state = '', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return 'ZX'.includes(state) ? '' : (fields[18] ?? '');
  } catch {
    return '';
  }
}
