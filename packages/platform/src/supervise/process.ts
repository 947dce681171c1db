/** One child process: what to start, when it counts as ready, how it is asked to stop. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import type { Readable } from 'node:stream';
import { liveness } from './liveness';
import type { Probe } from './probe';
import { shortenLogLine } from './shorten-log-line';

export interface ProcessSpec {
  name: string;
  command: string;
  args: string[];
  /** The whole environment: nothing is inherited. */
  env: Record<string, string>;
  cwd?: string;
  /** Only root may set these. */
  uid?: number;
  gid?: number;
  /** Signal that asks for a graceful end; default SIGTERM. */
  stopSignal?: NodeJS.Signals;
  /** After this long a process that was asked to stop is killed; default 10 s. */
  stopTimeoutMs?: number;
  /** Polled after the start; may throw, which counts as "not yet". */
  isReady(): Promise<boolean>;
  /** Runs before every start, also after a crash: removes what a killed predecessor left. */
  prepare?(): Promise<void>;
  readyTimeoutMs?: number;
  /** The platform serves without it: a first start that fails is repeated, like later ones. */
  isOptional?: boolean;
  /** Asked every few seconds from then on; a process that does not answer is replaced (liveness.ts). */
  liveness?: Probe;
  /** Log files that the process writes by itself. They are kept small from outside. */
  ownLogs?: string[];
  /** Whether a line of its output, when not JSON as the services write it, is worth showing in the terminal. */
  isAlarming?(line: string): boolean;
}

export type RunningProcess = Awaited<ReturnType<typeof startProcess>>;

const STOP_TIMEOUT_MS = 10_000;
const READY_TIMEOUT_MS = liveness.startSeconds * 1_000;
/** Most are ready within a second; one that is not gets asked ever more rarely. */
const READY_POLL_MS = 15;
const READY_POLL_MS_MAX = 500;

/**
 * Starts the process in a session of its own: Ctrl-C in the terminal reaches the launcher alone, which then stops
 * everything in order.
 */
export async function startProcess(spec: ProcessSpec) {
  await spec.prepare?.();
  const child = spawn(spec.command, spec.args, {
    cwd: spec.cwd,
    env: spec.env,
    uid: spec.uid,
    gid: spec.gid,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  await waitUntilSpawned(child, spec);
  const pid = child.pid as number;
  let alive = true;
  /** Status or signal with which it ended: resolves, never rejects. */
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('exit', (code, signal) => {
      alive = false;
      // Workers that lost their master would hold its ports.
      signalGroup(pid, 'SIGKILL');
      resolve({ code, signal });
    });
  });
  /** Everything it wrote has been read. May come long after `ended`: a grandchild can hold the pipes. */
  const silent = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });

  /** SIGKILL for the process and everything in its group. */
  async function kill() {
    signalGroup(pid, 'SIGKILL');
    await ended;
  }

  /** Asks, waits, kills; resolves when the process is gone. */
  async function stop(timeoutMs = spec.stopTimeoutMs ?? STOP_TIMEOUT_MS) {
    if (!alive) return;
    child.kill(spec.stopSignal ?? 'SIGTERM');
    const timer = setTimeout(() => signalGroup(pid, 'SIGKILL'), timeoutMs);
    await ended;
    clearTimeout(timer);
  }

  return { pid, stdout: child.stdout as Readable, stderr: child.stderr as Readable, ended, silent, stop, kill };
}

function waitUntilSpawned(child: ChildProcess, spec: ProcessSpec): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) => reject(new Error(`${spec.name}: cannot start ${spec.command}`, { cause })));
  });
}

/** Signals everything in the group that the process leads or led: a killed nginx master leaves workers. */
export const signalGroup = (pid: number, signal: NodeJS.Signals): void => signalProcess(-pid, signal);

/** Signals a process that may have ended meanwhile. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Already gone, which is what was wanted.
  }
}

/** Starts one process and waits until it answers; ends it if it does not. */
export async function startAndWait(spec: ProcessSpec): Promise<RunningProcess> {
  const running = await startProcess(spec);
  try {
    await waitUntilReady(spec, running);
    return running;
  } catch (err) {
    await running.kill();
    throw err;
  }
}

/** @throws Error if the process ends or is not ready in time; the message carries the end of what it wrote. */
export async function waitUntilReady(spec: ProcessSpec, running: RunningProcess): Promise<void> {
  const written = collectLastLines(running);
  let ended = false;
  void running.ended.then(() => {
    ended = true;
  });
  const timeoutMs = spec.readyTimeoutMs ?? READY_TIMEOUT_MS;
  const deadline = Date.now() + timeoutMs;
  let pollMs = READY_POLL_MS;
  try {
    while (!(await spec.isReady().catch(() => false))) {
      if (ended) throw new Error(`${spec.name} exited while starting:\n${written.text()}`);
      if (Date.now() > deadline)
        throw new Error(`${spec.name} was not ready within ${timeoutMs} ms:\n${written.text()}`);
      await new Promise((resolve) => setTimeout(resolve, pollMs));
      pollMs = Math.min(pollMs * 1.1, READY_POLL_MS_MAX);
    }
  } finally {
    written.stop();
  }
}

const TAIL_LINES = 15;

function collectLastLines({ stdout, stderr }: RunningProcess) {
  const lines = new Set<string>();
  const collect = (chunk: Buffer | string) => {
    for (const line of chunk.toString().split('\n').filter(Boolean)) {
      // Again at the end, so that what repeats itself is there once.
      lines.delete(shortenLogLine(line));
      lines.add(shortenLogLine(line));
    }
  };
  stdout.on('data', collect);
  stderr.on('data', collect);
  return {
    text: () => [...lines].slice(-TAIL_LINES).join('\n'),
    // The streams stay flowing: an unread pipe would block its writer.
    stop: () => {
      stdout.off('data', collect).resume();
      stderr.off('data', collect).resume();
    },
  };
}

/** Whether a process with this id exists, of any user. One that ended but was not yet collected does not count. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return readProcessStat(pid)?.state !== 'Z';
}

/** Ids of all processes that are alive. Empty without /proc. */
export function listProcesses(): number[] {
  if (!fs.existsSync('/proc/self')) return [];
  return fs
    .readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && isAlive(pid));
}

/** Undefined without such a process, without /proc, and for a process that this user may not look at. */
export function readWorkingDir(pid: number): string | undefined {
  try {
    return fs.readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

/**
 * When the process was started: together with the pid it names a process for ever, while a pid alone is given to
 * another process sooner or later. Undefined without such a process.
 */
export function readStartTime(pid: number): string | undefined {
  return readProcessStat(pid)?.startTime;
}

/** Undefined without such a process. */
export function findParent(pid: number): number | undefined {
  return readProcessStat(pid)?.parent;
}

export function isGroupLeader(pid: number): boolean {
  return readProcessStat(pid)?.group === pid;
}

interface ProcessStat {
  state: string | undefined;
  parent: number;
  group: number;
  /** In clock ticks since boot on Linux, as a date elsewhere. */
  startTime: string | undefined;
}

function readProcessStat(pid: number): ProcessStat | undefined {
  if (process.platform !== 'linux') return readStatFromPs(pid);
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    // proc(5): state is field 3, ppid 4, pgrp 5, starttime 22; the command in field 2 may hold spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0], parent: Number(fields[1]), group: Number(fields[2]), startTime: fields[19] };
  } catch {
    return undefined;
  }
}

function readStatFromPs(pid: number): ProcessStat | undefined {
  const { stdout } = spawnSync('ps', ['-o', 'state=,ppid=,pgid=,lstart=', '-p', String(pid)], { encoding: 'utf8' });
  const [state, parent, group, ...startTime] = (stdout ?? '').trim().split(/\s+/);
  return state
    ? { state: state[0], parent: Number(parent), group: Number(group), startTime: startTime.join(' ') }
    : undefined;
}
