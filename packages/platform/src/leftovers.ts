/**
 * Processes that outlived a killed launcher. Each start is recorded with the process's own start time, so that the next
 * launcher stops exactly those and never a stranger that was given the same number.
 */
import fs from 'node:fs';
import { isAlive, signalGroup, startTime } from './process';

interface Recorded {
  pid: number;
  startTime: string | undefined;
}

export interface ProcessRecord {
  add(name: string, pid: number): void;
  remove(name: string): void;
}

const LAUNCHER = 'launcher';
const STOP_MS = 5_000;

/**
 * Stops what an earlier launcher left and opens the record of this one.
 * @throws Error if the earlier launcher still runs.
 */
export async function takeOver(file: string): Promise<ProcessRecord> {
  const earlier = read(file);
  const { [LAUNCHER]: launcher, ...children } = earlier;
  if (launcher && launcher.pid !== process.pid && isStillThere(launcher)) {
    throw new Error(
      `Gantry is already running here as process ${launcher.pid}: stop it first, or use another checkout`,
    );
  }
  await stopAll(Object.values(children).filter(isStillThere));

  const recorded: Record<string, Recorded> = {};
  const write = () => {
    fs.writeFileSync(`${file}.new`, JSON.stringify(recorded, null, 2), { mode: 0o600 });
    fs.renameSync(`${file}.new`, file);
  };
  const add = (name: string, pid: number) => {
    recorded[name] = { pid, startTime: startTime(pid) };
    write();
  };
  add(LAUNCHER, process.pid);
  return {
    add,
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

/** The database is among them and takes SIGTERM for "wait until every session ends": they are all ended together. */
async function stopAll(leftovers: Recorded[]): Promise<void> {
  for (const { pid } of leftovers) signalGroup(pid, 'SIGTERM');
  const deadline = Date.now() + STOP_MS;
  while (leftovers.some(isStillThere)) {
    if (Date.now() > deadline) {
      for (const { pid } of leftovers.filter(isStillThere)) signalGroup(pid, 'SIGKILL');
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
