/**
 * Processes that a test run has started, found by its directory, which their command line, environment or working
 * directory names.
 */
import fs from 'node:fs';
import { findParent, listProcesses, readWorkingDir } from '@gantry/platform';

export interface RunProcess {
  pid: number;
  command: string;
}

/** Those that are alive and do not descend from this process. Empty without /proc. */
export function listOrphans(runDir: string): RunProcess[] {
  return listProcesses()
    .filter((pid) => referencesDir(pid, runDir) && !isDescendant(pid))
    .map((pid) => ({ pid, command: readProcFile(pid, 'cmdline').replaceAll('\0', ' ').trim() }));
}

/** A name that only begins like the directory's belongs to another run. */
function referencesDir(pid: number, dir: string): boolean {
  const text = `${readProcFile(pid, 'cmdline')}\0${readProcFile(pid, 'environ')}\0${readWorkingDir(pid)}\0`;
  return text.includes(`${dir}/`) || text.includes(`${dir}\0`);
}

function readProcFile(pid: number, file: string): string {
  try {
    return fs.readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

function isDescendant(pid: number): boolean {
  for (let ancestor: number | undefined = pid; ancestor; ancestor = findParent(ancestor)) {
    if (ancestor === process.pid) return true;
  }
  return false;
}
