import fs from 'node:fs';
import type { Child } from './child';
import { MEMORY_LIMIT } from './kill-reasons';

const POLL_MS = 250;

/** Watches memory without a cgroup: sums the memory of all processes of the run, and kills it above the limit. */
export function watchMemory(child: Child, limitBytes: number): () => void {
  const timer = setInterval(() => {
    if (child.state === 'dead') return clearInterval(timer);
    if (measureBytes(child) > limitBytes) child.kill(MEMORY_LIMIT);
  }, POLL_MS);
  return () => clearInterval(timer);
}

function measureBytes(child: Child): number {
  let sum = 0;
  try {
    const pending = [child.hostPid()];
    for (let pid = pending.pop(); pid !== undefined; pid = pending.pop()) {
      sum += readProportionalBytes(pid);
      pending.push(...listChildren(pid));
    }
  } catch {
    // The process is exiting: there is nothing left to limit.
  }
  return sum;
}

export function listChildren(pid: number): number[] {
  try {
    const tasks = fs.readdirSync(`/proc/${pid}/task`);
    return tasks.flatMap((task) =>
      fs.readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

/** Reads PSS, which counts a page shared by n processes as 1/n: children share most of theirs with the zygote. */
function readProportionalBytes(pid: number): number {
  try {
    const rollup = fs.readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
