/** Processes below a root, read from /proc: what each costs in CPU and memory. */
import { readdirSync, readFileSync } from 'node:fs';

const TICK_MS = 10;

/** @returns {{pid: number, ppid: number, command: string, cpuMs: number, childrenCpuMs: number, rssBytes: number, pssBytes: number}[]} */
export function processTree(rootPid) {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => readProcess(Number(pid)))
    .filter(Boolean);
  const below = new Set([rootPid]);
  for (let grew = true; grew; ) {
    grew = false;
    for (const { pid, ppid } of all) {
      if (below.has(ppid) && !below.has(pid)) {
        below.add(pid);
        grew = true;
      }
    }
  }
  return all.filter(({ pid }) => below.has(pid));
}

function readProcess(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    // proc(5): utime, stime, and those of children that were waited for.
    const [utime, stime, cutime, cstime] = fields.slice(11, 15);
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    const kb = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(rollup)?.[1] ?? 0) * 1024;
    return {
      pid,
      ppid: fields[1],
      command,
      cpuMs: (utime + stime) * TICK_MS,
      childrenCpuMs: (cutime + cstime) * TICK_MS,
      rssBytes: kb('Rss'),
      pssBytes: kb('Pss'),
    };
  } catch {
    return null; // gone meanwhile
  }
}

const KINDS = [
  ['worker-api', /worker-api/],
  ['automation-api', /automation-api/],
  ['skills-api', /skills-api/],
  ['executor', /services\/executor|executor\/dist/],
  ['sandbox', /zygote\.py|harness\.py|bwrap/],
  ['postgres', /postgres/],
  ['nats', /nats-server/],
  ['nginx', /nginx/],
  ['launcher', /platform\/dist|bootstrap\.mjs/],
];

const kindOf = ({ command }) => KINDS.find(([, pattern]) => pattern.test(command))?.[0] ?? 'other';

/**
 * Sums by kind of process. Children that have ended count where their parent counts; those of the executor are sandboxes,
 * whose CPU must not change its place when a zygote is replaced.
 */
export function byKind(processes) {
  const sums = {};
  const sumOf = (kind) => {
    sums[kind] ??= { processes: 0, cpuMs: 0, rssMB: 0, pssMB: 0 };
    return sums[kind];
  };
  for (const process of processes) {
    const kind = kindOf(process);
    sumOf(kind).processes++;
    sumOf(kind).cpuMs += process.cpuMs;
    sumOf(kind === 'executor' ? 'sandbox' : kind).cpuMs += process.childrenCpuMs;
    sums[kind].rssMB += process.rssBytes / 2 ** 20;
    sums[kind].pssMB += process.pssBytes / 2 ** 20;
  }
  return sums;
}
