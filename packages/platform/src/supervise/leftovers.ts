/**
 * Processes that outlived a killed launcher. Each start is recorded with the process's own start time, so that the next
 * launcher stops exactly those and never a stranger that was given the same number.
 */
import fs from 'node:fs';
import { isAlive, isGroupLeader, parentOf, startTime } from './process';

interface Recorded {
  pid: number;
  startTime: string | undefined;
  /** Process id of the parent, for a launcher that ends when its parent does. */
  parent?: number;
}

export interface ProcessRecord {
  add(name: string, pid: number): void;
  remove(name: string): void;
}

const LAUNCHER = 'launcher';
const STOP_MS = 5_000;
/** A launcher stops a whole platform. */
const ORPHAN_STOP_MS = 30_000;

/**
 * Stops what an earlier launcher left and opens the record of this one.
 * @param parent npm, where npm started us: we are to end when it does.
 * @throws Error if the earlier launcher still runs.
 */
export async function takeOver(file: string, parent?: number): Promise<ProcessRecord> {
  const { [LAUNCHER]: launcher } = read(file);
  if (launcher && launcher.pid !== process.pid && isStillThere(launcher)) {
    if (!isOrphan(launcher)) {
      throw new Error(
        `Gantry is already running here as process ${launcher.pid}: stop it first, or use another checkout`,
      );
    }
    // It is about to notice by itself that its npm was killed.
    await stopAll([launcher], ORPHAN_STOP_MS);
  }
  const { [LAUNCHER]: _, ...children } = read(file);
  await stopAll(Object.values(children).filter(isStillThere), STOP_MS);

  const recorded: Record<string, Recorded> = {};
  const write = () => {
    fs.writeFileSync(`${file}.new`, JSON.stringify(recorded, null, 2), { mode: 0o600 });
    fs.renameSync(`${file}.new`, file);
  };
  recorded[LAUNCHER] = { pid: process.pid, startTime: startTime(process.pid), parent };
  write();
  return {
    add: (name, pid) => {
      recorded[name] = { pid, startTime: startTime(pid) };
      write();
    },
    remove: (name) => {
      delete recorded[name];
      write();
    },
  };
}

function read(file: string): Record<string, Recorded> {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch {
    return {};
  }
}

const isStillThere = ({ pid, startTime: then }: Recorded) => isAlive(pid) && startTime(pid) === then;

const isOrphan = ({ pid, parent }: Recorded) => parent !== undefined && parentOf(pid) !== parent;

/** The database is among them and takes SIGTERM for "wait until every session ends": they are all ended together. */
async function stopAll(leftovers: Recorded[], patienceMs: number): Promise<void> {
  for (const { pid } of leftovers) signal(pid, 'SIGTERM');
  const deadline = Date.now() + patienceMs;
  while (leftovers.some(isStillThere)) {
    if (Date.now() > deadline) {
      for (const { pid } of leftovers.filter(isStillThere)) signal(pid, 'SIGKILL');
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A launcher is in npm's group, everything it starts leads its own. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(isGroupLeader(pid) ? -pid : pid, name);
  } catch {
    // Gone meanwhile.
  }
}
