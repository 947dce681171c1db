/** Keeps `slots` sealed children ready, gives each run its own, and replaces zygotes that crash or grow old. */
import type { Child } from './child';
import type { SandboxSettings } from './settings';
import { ZygoteProcess } from './zygote-process';

/**
 * Creating a child takes 5 ms of CPU, which on few cores delays the end of a short run and the delivery of its result
 * (by a quarter for a run of 8 ms). A replacement is therefore deferred while most of the pool is ready.
 */
const REFILL_DELAY_MS = 25;
/** After this many consecutive failures to build a child, building slows down and start() gives up. */
const FAILURES_MAX = 3;
const RESTART_DELAY_MS = 1_000;

export class ChildPool {
  /** Ready children, oldest first. */
  readonly idle: Child[] = [];
  restarts = 0;
  current?: ZygoteProcess;
  private readonly waiting: ((child: Child) => void)[] = [];
  private readonly starting = new Set<Child>();
  private failures = 0;
  private lastDeath = '';
  private stopped = false;
  private recycling: Promise<void> | null = null;
  private onChange?: () => void;

  constructor(private readonly settings: SandboxSettings) {}

  /** Resolves when the pool is full. @throws if children cannot be built on this machine, with the cause. */
  async start(): Promise<void> {
    await this.replaceZygote();
    await this.waitUntilFull();
  }

  async waitUntilFull(): Promise<void> {
    while (this.idle.length < this.settings.slots) {
      if (this.failures > FAILURES_MAX) {
        throw new Error(`the sandbox can't be built on this machine: ${this.current?.lastBroken ?? this.lastDeath}`);
      }
      await new Promise<void>((resolve) => {
        this.onChange = resolve;
        setTimeout(resolve, 20);
      });
    }
  }

  /** Acquires a child for one run, synchronously if one is ready. The pool refills itself. */
  acquire(): Child | Promise<Child> {
    const child = this.idle.shift();
    if (child) {
      child.state = 'running';
      this.scheduleRefill();
      return child;
    }
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.refill();
    });
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.recycling;
    await this.current?.destroy();
  }

  private async replaceZygote(): Promise<void> {
    const zygote = new ZygoteProcess(this.settings);
    zygote.on('exit', (child, was) => {
      if (this.starting.delete(child) && was === 'starting' && child.killedFor !== 'recycled') this.failures++;
      const at = this.idle.indexOf(child);
      if (at >= 0) this.idle.splice(at, 1);
      // A used one was replaced when it was acquired.
      if (was !== 'running') setTimeout(() => this.refill(), this.failures > FAILURES_MAX ? RESTART_DELAY_MS : 50);
      this.onChange?.();
    });
    zygote.on('died', (why) => {
      this.lastDeath = why;
      if (this.current === zygote && !this.stopped) this.restart();
    });
    await zygote.start();
    const old = this.current;
    this.current = zygote;
    if (this.stopped) return void zygote.destroy();
    if (old && !old.dead) {
      this.idle.splice(0);
      old.retire();
    }
    this.refill();
  }

  private restart(): void {
    this.restarts++;
    this.replaceZygote().catch((err) => {
      this.lastDeath = err.message;
      setTimeout(() => !this.stopped && this.restart(), RESTART_DELAY_MS).unref();
    });
  }

  private scheduleRefill(): void {
    if (this.idle.length < this.settings.slots / 2) this.refill();
    else setTimeout(() => this.refill(), REFILL_DELAY_MS);
  }

  private refill(): void {
    const { current, settings } = this;
    if (this.stopped || !current || current.dead || current.retired) return;
    if (current.forks >= settings.recycleForks || Date.now() - current.startedAt > settings.recycleMs) {
      this.recycling ??= this.replaceZygote()
        .catch(() => {})
        .finally(() => {
          this.recycling = null;
        });
    }
    const target = settings.slots + this.waiting.length;
    while (this.idle.length + this.starting.size < target && this.starting.size < settings.slots) {
      const child = current.fork();
      child.onReady = () => {
        this.failures = 0;
        this.starting.delete(child);
        this.handOutChild(child);
      };
      this.starting.add(child);
    }
  }

  private handOutChild(child: Child): void {
    const next = this.waiting.shift();
    if (next) {
      child.state = 'running';
      next(child);
      // It was forked for the pool, which needs another one.
      this.scheduleRefill();
    } else {
      this.idle.push(child);
    }
    this.onChange?.();
  }
}
