import type { Readable, Writable } from 'node:stream';
import type { RunCgroup } from './cgroup';
import { FrameReader } from './frames';

/** How a child's first process ended. */
export interface Exit {
  /** Exit code, or minus the signal. */
  status: number;
  cpuMs: number;
  maxRssKb: number;
  error?: string;
  oom?: boolean;
}

export type LogStream = 'stdout' | 'stderr';

/** The control channel is a socket of its own for a zygote's child and an inherited pipe for a cold one. */
export type Control = Readable & Writable;

/** Frames that a child that has no run yet may send: `ready`, or why it broke. */
const CONTROL_BYTES_IDLE = 64 * 1024;

/**
 * One sealed process that serves one run and is thrown away.
 *
 * The zygote never sees user code, so its reports are trusted. Everything a child sends after it was given a job is not:
 * frames are bounded, parsed defensively, and attributed by connection, never by what they say.
 */
export class Child {
  state: 'starting' | 'ready' | 'running' | 'dead' = 'starting';
  readonly exited: Promise<Exit>;
  readonly frames = new FrameReader(CONTROL_BYTES_IDLE);
  control?: Control;
  logs: Partial<Record<LogStream, Readable>> = {};
  cgroup?: RunCgroup;
  /** Why the host killed it. The first reason stands. */
  killedFor?: string;
  /** Called for bytes on the control channel, in order, once the run has begun. */
  onControl?: () => void;
  onLog?: (stream: LogStream, chunk: Buffer) => void;
  onLogEnd?: () => void;
  private readonly logsEnded = { stdout: false, stderr: false };
  private resolveExit!: (exit: Exit) => void;

  constructor(
    readonly id: string,
    private readonly killProcess: (child: Child) => void,
    /** The pid of the child as this process sees it. @throws when it is gone. */
    readonly hostPid: () => number,
  ) {
    this.exited = new Promise((resolve) => {
      this.resolveExit = resolve;
    });
  }

  attachControl(control: Control): void {
    this.control = control;
    control.on('error', () => {});
    control.on('data', (chunk: Buffer) => {
      this.frames.push(chunk);
      this.onControl?.();
    });
    // A run that closes its channel and lives on can't answer any more. (One that exits closes it too: let it.)
    control.on('close', () => setTimeout(() => this.kill('closed its control channel'), 50).unref());
  }

  attachLog(stream: LogStream, source: Readable): void {
    this.logs[stream] = source;
    const ended = () => {
      this.logsEnded[stream] = true;
      this.onLogEnd?.();
    };
    source.on('error', () => {});
    source.on('data', (chunk: Buffer) => this.onLog?.(stream, chunk));
    source.once('end', ended).once('close', ended);
  }

  get logsHaveEnded(): boolean {
    return this.logsEnded.stdout && this.logsEnded.stderr;
  }

  kill(reason: string): void {
    if (this.state === 'dead') return;
    this.killedFor ??= reason;
    this.killProcess(this);
  }

  /** Called by whoever watches the process. What was in the sockets is still to be read. */
  ended(exit: Exit): void {
    if (this.state === 'dead') return;
    this.state = 'dead';
    if (this.cgroup) {
      exit.oom = this.cgroup.oomKilled();
      this.cgroup.release();
    }
    this.resolveExit(exit);
  }

  /** Lets go of the connections once nothing of them is wanted any more. */
  close(): void {
    this.control?.destroy();
    this.logs.stdout?.destroy();
    this.logs.stderr?.destroy();
  }
}
