/**
 * Processes that outlived a killed launcher. Each start is recorded with the process's own start time, so that the next
 * launcher stops exactly those and never a stranger that was given the same number.
 */
import fs from 'node:fs';
import { findParent, isAlive, isGroupLeader, readStartTime, signalProcess } from './process';

interface RecordedProcess {
  pid: number;
  startTime: string | undefined;
  /** Process id of the parent, for a launcher that ends when its parent does. */
  parent?: number;
  /** Default SIGTERM. */
  stopSignal?: NodeJS.Signals;
}

const LAUNCHER = 'launcher';
const WRITE_AGAIN_MS = 1_000;
const STOP_MS = 5_000;
/** A launcher stops a whole platform. */
const ORPHAN_STOP_MS = 30_000;

/**
 * Stops what an earlier launcher left and opens the record of this one. Its changes never throw: the launcher has to go
 * on when the disk is full. What was not written is written later.
 * @param parent npm, where npm started us: we are to end when it does.
 * @throws Error if the earlier launcher still runs.
 */
export async function claimProcessRecord(file: string, parent?: number) {
  const { [LAUNCHER]: launcher } = readRecords(file);
  if (launcher && launcher.pid !== process.pid && isRunning(launcher)) {
    if (!isOrphan(launcher)) {
      throw new Error(
        `Gantry is already running here as process ${launcher.pid}: stop it first, or use another checkout`,
      );
    }
    // It is about to notice by itself that its npm was killed.
    await stopAll([launcher], ORPHAN_STOP_MS);
  }
  const { [LAUNCHER]: _, ...children } = readRecords(file);
  await stopAll(Object.values(children).filter(isRunning), STOP_MS);

  const recorded: Record<string, RecordedProcess> = {};
  let retry: NodeJS.Timeout | undefined;
  const write = () => {
    fs.writeFileSync(`${file}.new`, JSON.stringify(recorded, null, 2), { mode: 0o600 });
    fs.renameSync(`${file}.new`, file);
  };
  const tryToWrite = () => {
    clearTimeout(retry);
    try {
      write();
    } catch {
      retry = setTimeout(tryToWrite, WRITE_AGAIN_MS).unref();
    }
  };
  recorded[LAUNCHER] = { pid: process.pid, startTime: readStartTime(process.pid), parent };
  write();
  return {
    add: (name: string, pid: number, stopSignal?: NodeJS.Signals) => {
      recorded[name] = { pid, startTime: readStartTime(pid), stopSignal };
      tryToWrite();
    },
    remove: (name: string) => {
      delete recorded[name];
      tryToWrite();
    },
  };
}

function readRecords(file: string): Record<string, RecordedProcess> {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch {
    return {};
  }
}

const isRunning = ({ pid, startTime: recordedStartTime }: RecordedProcess) =>
  isAlive(pid) && readStartTime(pid) === recordedStartTime;

const isOrphan = ({ pid, parent }: RecordedProcess) => parent !== undefined && findParent(pid) !== parent;

/**
 * They are all ended together. PostgreSQL has a signal of its own: it takes SIGTERM for "wait until every session
 * ends", and one that is killed leaves processes which keep the next one from starting.
 */
async function stopAll(leftovers: RecordedProcess[], timeoutMs: number): Promise<void> {
  for (const { pid, stopSignal = 'SIGTERM' } of leftovers) signalProcessOrGroup(pid, stopSignal);
  const deadline = Date.now() + timeoutMs;
  while (leftovers.some(isRunning)) {
    if (Date.now() > deadline) {
      for (const { pid } of leftovers.filter(isRunning)) signalProcessOrGroup(pid, 'SIGKILL');
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A launcher is in npm's group, everything it starts leads its own. */
const signalProcessOrGroup = (pid: number, name: NodeJS.Signals): void =>
  signalProcess(isGroupLeader(pid) ? -pid : pid, name);
