/**
 * A sealed child that has imported the code of one version, and forks a process for each run of it, one after the
 * other (warm.py).
 *
 * It has run user code: its reports are untrusted, and so is its behaviour between runs.
 */
import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import { clampCount, parseMessage, parseText, throwUnexpected } from '../untrusted/untrusted-values';
import { Child, type Exit } from './child';
import { encodeFrame } from './frames';
import { CHANNEL_CLOSED } from './kill-reasons';
import { listChildren, watchMemory } from './memory-watch';
import { READY_MS, type SandboxSpec } from './settings';
import type { ZygoteProcess } from './zygote-process';

export interface WarmImport {
  spec: SandboxSpec;
  entrypoint: string;
  /** Code that reads one of these during its import cannot be warm. */
  secretNames: string[];
  memoryBytes: number;
  processes: number;
}

export interface WarmEvents {
  /** Emitted when a process waits for a run, for the first time. */
  ready: [];
  /** @param reason why this version can't run from a warm sandbox; absent: only this one has ended */
  gone: [reason?: string];
}

const IMPORT_MS_MAX = 60_000;
const REPORT_BYTES_MAX = 4_096;
const REPORT_DEPTH_MAX = 2;
const REASON_CHARS_MAX = 500;
/** Grace period: a process ends with its connections, and the sandbox reports it only then. */
const ENDED_MS_MAX = 1_000;
/** Processor time that a process may use while it waits. */
const RESTING_CPU_MS_MAX = 1_000;
/** A fresh sandbox takes at least this long. */
const WAIT_MS_MIN = 5;
const WAIT_MS_MAX = 2_000;
/** An interpreter that has imported an empty module. */
const BYTES_MIN = 2 << 20;
const CLOCK_TICK_MS = 10;
/** A process that has sent its result waits this long for the host to hang up (harness.py). */
const LINGER_MS = 15;

/** When the last result of any warm sandbox of this executor was complete, by performance.now(). */
let lastAnsweredAt = Number.NEGATIVE_INFINITY;

export class WarmSandbox extends EventEmitter<WarmEvents> {
  readonly startedAt = Date.now();
  /** Its memory as reported by itself, since no other process may read it; clamped to possible values. */
  bytes = 0;
  usedAt = Date.now();
  private phase: 'importing' | 'forking' | 'waiting' | 'running' | 'answered' = 'importing';
  private readonly sandbox: Child;
  private run?: Child;
  private runs = 0;
  private timer?: NodeJS.Timeout;
  private stopWatching = () => {};
  private reason?: string;
  private exit?: Exit;
  private cpuMsAtRest = 0;
  private isLast = false;
  /**
   * Whether the run came soon after the executor's last result. Then the host hangs up at its result, so that the next
   * process is forked while the service stores it; otherwise that can wait until the service needs no processor.
   */
  private isHurried = false;
  private importMs = 0;
  private next?: (run: Child | undefined) => void;

  constructor(
    private readonly zygote: ZygoteProcess,
    private readonly given: WarmImport,
  ) {
    super();
    this.sandbox = zygote.forkWarm();
    this.sandbox.onReady = () => this.import();
    void this.sandbox.exited.then((exit) => this.handleExit(exit));
  }

  /** Whether it accepts no further run. */
  private get isEnding(): boolean {
    return this.isLast || this.sandbox.killedFor !== undefined;
  }

  get isRunning(): boolean {
    return this.phase === 'running' || this.phase === 'answered';
  }

  /** Acquires a process for one run, if one waits. */
  acquire(): Child | undefined {
    if (this.phase !== 'waiting' || !this.run || this.isEnding) return undefined;
    this.phase = 'running';
    this.usedAt = Date.now();
    this.isHurried = performance.now() - lastAnsweredAt < LINGER_MS;
    this.sandbox.state = 'running';
    this.run.state = 'running';
    return this.run;
  }

  /** Whether the next process is being forked and no run waits for it. */
  get isExpected(): boolean {
    return (this.phase === 'answered' || this.phase === 'forking') && !this.next && !this.isEnding;
  }

  /**
   * Waits for the next process. Undefined if importing the code in a fresh sandbox would have taken less time than to
   * wait for it.
   */
  waitForNext(): Promise<Child | undefined> {
    if (this.phase === 'answered') this.run?.control?.end();
    return new Promise((resolve) => {
      const timer = setTimeout(
        () => this.next?.(undefined),
        Math.min(Math.max(this.importMs, WAIT_MS_MIN), WAIT_MS_MAX),
      );
      this.next = (run) => {
        clearTimeout(timer);
        this.next = undefined;
        resolve(run);
      };
    });
  }

  /** Ends it, after its run if there is one. */
  end(): void {
    if (this.isRunning) this.isLast = true;
    else this.sandbox.kill('recycled');
  }

  /** Returns false if something is active without a run: code that has found a way to persist. */
  isIdle(): boolean {
    if (this.phase !== 'waiting') return true;
    const cpuMs = this.readCpuMs();
    if (cpuMs === undefined) return true;
    const isAlone = listChildren(this.sandbox.hostPid()).length <= 1;
    return isAlone && cpuMs - this.cpuMsAtRest < RESTING_CPU_MS_MAX;
  }

  /** Reads the CPU time of its first process. Undefined once that has exited, possibly before its exit is reported. */
  private readCpuMs(): number | undefined {
    try {
      return readProcessCpuMs(this.sandbox.hostPid());
    } catch {
      return undefined;
    }
  }

  private import(): void {
    const { sandbox, given } = this;
    sandbox.cgroup?.limit(given.memoryBytes + given.spec.tmpBytes, given.processes + 8);
    if (!sandbox.cgroup) this.stopWatching = watchMemory(sandbox, given.memoryBytes);
    sandbox.frames.limitBytes = REPORT_BYTES_MAX;
    sandbox.onControl = () => this.readReports();
    sandbox.control?.write(encodeFrame(given.spec));
    sandbox.control?.write(encodeFrame({ entrypoint: given.entrypoint, secretNames: given.secretNames }));
    this.importMs = -performance.now();
    this.endAfter(IMPORT_MS_MAX, `its import takes longer than ${IMPORT_MS_MAX / 1_000} s`);
  }

  private readReports(): void {
    try {
      for (let body = this.sandbox.frames.next(); body; body = this.sandbox.frames.next()) {
        this.handleReport(parseMessage(body, REPORT_DEPTH_MAX));
      }
    } catch (err) {
      this.reject(`it violates the protocol of its sandbox: ${(err as Error).message}`);
    }
  }

  private handleReport(report: Record<string, unknown>): void {
    const { phase } = this;
    if (report.t === 'fresh' && phase === 'importing') {
      this.reject(parseText(report.reason, REASON_CHARS_MAX));
    } else if (this.exit || this.sandbox.killedFor !== undefined) {
      // A run that is killed with its sandbox ends with the exit of the sandbox.
      return;
    } else if (report.t === 'broken') {
      this.reject(`its sandbox is broken: ${report.error}`.slice(0, REASON_CHARS_MAX));
    } else if (report.t === 'warm' && phase === 'importing') {
      this.stopWatching();
      const most = this.given.memoryBytes + this.given.spec.tmpBytes;
      this.bytes = typeof report.bytes === 'number' ? Math.min(Math.max(report.bytes, BYTES_MIN), most) : most;
      this.importMs += performance.now();
      this.fork();
    } else if (report.t === 'ended' && phase !== 'importing' && phase !== 'forking') {
      this.sandbox.state = 'ready';
      const { status, cpuMs, maxRssKb } = report;
      this.run?.handleExit({
        status: Number.isInteger(status) ? Number(status) : 0,
        cpuMs: clampCount(cpuMs, Number.MAX_SAFE_INTEGER),
        maxRssKb: clampCount(maxRssKb, Number.MAX_SAFE_INTEGER),
      });
      if (this.isLast || this.zygote.retired) this.sandbox.kill('recycled');
      else this.fork();
    } else {
      throwUnexpected(report);
    }
  }

  /** Forks the process of the next run ahead. The sandbox first removes leftovers of the previous run. */
  private fork(): void {
    const { sandbox, zygote } = this;
    this.phase = 'forking';
    const run = new Child(
      `${sandbox.id}.${++this.runs}`,
      (child) => this.kill(child),
      () => sandbox.hostPid(),
    );
    const { cgroup } = sandbox;
    if (cgroup)
      run.cgroup = { ...cgroup, wasOomKilled: () => this.exit?.oom ?? cgroup.wasOomKilled(), release: () => {} };
    run.onReady = () => {
      clearTimeout(this.timer);
      this.phase = 'waiting';
      if (this.runs === 1) this.emit('ready');
      if (this.next) return this.next(this.acquire());
      this.cpuMsAtRest = this.readCpuMs() ?? 0;
    };
    run.onAnswered = () => {
      if (this.run !== run) return;
      this.phase = 'answered';
      lastAnsweredAt = performance.now();
      if (this.isHurried) run.control?.end();
    };
    this.run = run;
    this.endAfter(READY_MS);
    zygote.forkRun(sandbox, run);
  }

  /** Kills a run with its sandbox, which alone knows its processes. */
  private kill(run: Child): void {
    const end = () => run.state !== 'dead' && this.sandbox.kill(run.killedFor ?? '');
    if (run.killedFor === CHANNEL_CLOSED) setTimeout(end, ENDED_MS_MAX);
    else end();
  }

  private endAfter(ms: number, reason?: string): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (reason) this.reject(reason);
      else this.sandbox.kill('not ready in time');
    }, ms);
  }

  private reject(reason: string): void {
    this.reason ??= reason;
    this.sandbox.kill(reason);
  }

  private async handleExit(exit: Exit): Promise<void> {
    clearTimeout(this.timer);
    this.stopWatching();
    this.exit = exit;
    this.run?.handleExit(exit);
    this.run?.close();
    this.next?.(undefined);
    const endedItself = !this.sandbox.killedFor && !exit.error;
    if (this.phase === 'importing') await this.sandbox.waitForControlEnd();
    this.sandbox.close();
    if (this.phase === 'importing' && endedItself) this.reason ??= 'its process exits during the import';
    this.emit('gone', this.reason);
  }
}

/** Reads the CPU time of all threads of a process. @throws if it has exited */
function readProcessCpuMs(pid: number): number {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
  // After the name, which may contain anything: user and system time are fields 14 and 15 of proc_pid_stat(5).
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return (user + system) * CLOCK_TICK_MS;
}
