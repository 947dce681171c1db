import type { Readable, Writable } from 'node:stream';
import type { RunCgroup } from './cgroup';
import { FrameReader } from './frames';
import { CHANNEL_CLOSED } from './kill-reasons';

/** The exit of a child's first process. */
export interface Exit {
  /** Exit code, or minus the signal. */
  status: number;
  cpuMs: number;
  maxRssKb: number;
  error?: string;
  oom?: boolean;
}

export type LogStream = 'stdout' | 'stderr';

/** The control channel is a dedicated socket for a zygote's child and an inherited pipe for a cold one. */
export type Control = Readable & Writable;

/** Limit for the frame of a child without a run: `ready`, or its failure. */
const CONTROL_BYTES_IDLE = 64 * 1024;
/** Data written just before the exit may still be in transit. */
const IN_TRANSIT_MS_MAX = 200;

/**
 * A sealed process that serves one run and is then discarded.
 *
 * The zygote never sees user code, so its reports are trusted. Everything a child sends after it was given a job is
 * untrusted: frames are bounded, parsed defensively, and attributed by connection, never by their content.
 */
export class Child {
  state: 'starting' | 'ready' | 'running' | 'dead' = 'starting';
  readonly exited: Promise<Exit>;
  readonly frames = new FrameReader(CONTROL_BYTES_IDLE);
  control?: Control;
  logs: Partial<Record<LogStream, Readable>> = {};
  cgroup?: RunCgroup;
  /** The host's reason for killing it. The first reason counts. */
  killedFor?: string;
  /** Called when it waits for a run. */
  onReady?: () => void;
  /** Called when the run has sent its result. */
  onAnswered?: () => void;
  /** Called for bytes on the control channel, in order, once the run has started. */
  onControl?: () => void;
  onLog?: (stream: LogStream, chunk: Buffer) => void;
  onLogEnd?: () => void;
  private readonly logsEnded = { stdout: false, stderr: false };
  private resolveExit!: (exit: Exit) => void;

  constructor(
    readonly id: string,
    private readonly killProcess: (child: Child) => void,
    /** Returns the pid of the child in this process's namespace. @throws if it has exited. */
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
    // A run that closes its channel but stays alive cannot send a result. (An exit closes it too, and needs no kill.)
    control.on('close', () => setTimeout(() => this.kill(CHANNEL_CLOSED), 50).unref());
  }

  attachLog(stream: LogStream, source: Readable): void {
    this.logs[stream] = source;
    const handleLogEnd = () => {
      this.logsEnded[stream] = true;
      this.onLogEnd?.();
    };
    source.on('error', () => {});
    source.on('data', (chunk: Buffer) => this.onLog?.(stream, chunk));
    source.once('end', handleLogEnd).once('close', handleLogEnd);
  }

  get logsHaveEnded(): boolean {
    return this.logsEnded.stdout && this.logsEnded.stderr;
  }

  kill(reason: string): void {
    if (this.state === 'dead') return;
    this.killedFor ??= reason;
    this.killProcess(this);
  }

  /** Called by the process watcher. The data in the sockets is still to be read. */
  handleExit(exit: Exit): void {
    if (this.state === 'dead') return;
    this.state = 'dead';
    if (this.cgroup) {
      exit.oom = this.cgroup.wasOomKilled();
      this.cgroup.release();
    }
    this.resolveExit(exit);
  }

  /** Resolves when everything written to the control channel before its exit has been read. */
  waitForControlEnd(): Promise<void> {
    return new Promise((resolve) => {
      if (!this.control || this.control.destroyed) return resolve();
      this.control.once('close', resolve);
      setTimeout(resolve, IN_TRANSIT_MS_MAX).unref();
    });
  }

  /** Closes the connections once they are no longer needed. */
  close(): void {
    this.control?.destroy();
    this.logs.stdout?.destroy();
    this.logs.stderr?.destroy();
  }
}
