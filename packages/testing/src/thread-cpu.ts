import { readFileSync } from 'node:fs';

/** Processor time of the thread that runs the event loop of this process; infinite where the system does not tell. */
export function readThreadCpuMs(): number {
  try {
    const [onCpuNs] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
    return Number(onCpuNs) / 1e6;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
