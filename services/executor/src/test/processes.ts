import fs from 'node:fs';

/** Returns whether a process exists and is not a zombie. */
export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s*[ZX]/m.test(fs.readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** Lists all descendants of a process, with their state letters. */
export function listDescendants(pid: number): { pid: number; state: string }[] {
  const all = fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = fs.readFileSync(`/proc/${name}/stat`, 'utf8');
        const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        return [{ pid: Number(name), state, parent: Number(parent) }];
      } catch {
        return [];
      }
    });
  const found: { pid: number; state: string }[] = [];
  const pending = [pid];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    for (const one of all.filter(({ parent }) => parent === at)) {
      found.push(one);
      pending.push(one.pid);
    }
  }
  return found;
}
