/**
 * Manages one generation of the zygote. It is replaced when it crashes or is recycled; active runs finish in the old
 * one.
 */
import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { listenInDirectory } from '../host/listen-in-directory';
import { ownerTag } from '../host/owner-tag';
import { INHERITED_FD } from './bwrap-args';
import { type BwrapProcess, startRunBwrap } from './bwrap-process';
import type { GroupPool } from './cgroup';
import { chownToSandbox } from './change-owner';
import { Child, type Exit } from './child';
import { encodeRawFrame, FrameReader } from './frames';
import { buildChildConfig, PRELOAD, READY_MS, type SandboxSettings, TMP_BYTES_DEFAULT } from './settings';

type Role = 'c' | 'o' | 'e';
/** The start of a child's connection: its role and its nonce in hex. */
const HELLO_BYTES = 1 + 32;
/** Per slot: a child that waits, one that runs, and those being torn down. */
const GROUPS_PER_SLOT = 4;
/**
 * If a child survives its kill for this long, its whole zygote is killed with all runs: nothing may survive. A busy
 * machine delays an exit, or its report, by a second.
 */
const LAST_RESORT_MS = 5_000;

interface StartingChild {
  child: Child;
  nonce: string;
  connected: Set<Role>;
  hasReportedReady: boolean;
  innerPid?: number;
  timer: NodeJS.Timeout;
  lastResort?: NodeJS.Timeout;
}

type ZygoteReport =
  | { t: 'up' }
  | { t: 'forked'; id: string; pid: number }
  | ({ t: 'exit'; id: string } & Partial<Exit>);

export interface ZygoteEvents {
  exit: [child: Child, was: Child['state']];
  died: [why: string];
}

export class ZygoteProcess extends EventEmitter<ZygoteEvents> {
  readonly children = new Map<string, StartingChild>();
  readonly startedAt = Date.now();
  forks = 0;
  dead = false;
  /** Creates no new children; exits after its last one. */
  retired = false;
  /** The reason why a child could not be built, as reported by the child. */
  lastBroken?: string;
  readonly dir: string;
  private readonly byNonce = new Map<string, StartingChild>();
  private bwrap!: BwrapProcess;
  private server!: net.Server;
  private gone!: Promise<void>;
  private groups?: GroupPool;
  private hostPids = new Map<number, number>();

  constructor(private readonly settings: SandboxSettings) {
    super();
    this.dir = fs.mkdtempSync(path.join(settings.runDir, `${ownerTag}-z-`));
  }

  /** The pid of the zygote itself, in this process's pid namespace. */
  get pid(): number | undefined {
    return this.bwrap.getInnerPid();
  }

  async start(): Promise<void> {
    const ctl = path.join(this.dir, 'ctl');
    fs.mkdirSync(ctl, { mode: 0o700 });
    this.server = net.createServer((socket) => this.authenticate(socket));
    await listenInDirectory(this.server, ctl, 's');
    chownToSandbox(this.dir, this.settings);
    this.groups = this.settings.cgroups?.pool(this.settings.slots * GROUPS_PER_SLOT);
    const groups = this.groups?.files ?? [];
    const config = {
      ...buildChildConfig(TMP_BYTES_DEFAULT),
      preload: PRELOAD,
      inherited: { first: INHERITED_FD, count: groups.length },
    };
    this.bwrap = startRunBwrap(this.settings, { ctlDir: ctl, config, inherited: groups });
    this.groups?.closeFiles();
    let output = '';
    const collectOutput = (text: Buffer) => {
      output = (output + text).slice(-4_000);
    };
    this.bwrap.stdout.on('data', collectOutput);
    this.bwrap.stderr.on('data', collectOutput);
    let failedToStart: string | undefined;
    this.bwrap.process.once('error', (err) => {
      failedToStart = err.message;
    });
    this.gone = new Promise((resolve) => {
      this.bwrap.process.once('close', (code, signal) => {
        this.dead = true;
        this.handleExit(`zygote ended (${signal ?? code}) ${output.trim()}`);
        resolve();
      });
    });
    const frames = new FrameReader(1 << 20);
    await new Promise<void>((resolve, reject) => {
      this.bwrap.control.on('data', (chunk: Buffer) => {
        frames.push(chunk);
        for (let body = frames.next(); body; body = frames.next()) {
          const report: ZygoteReport = JSON.parse(body.toString());
          if (report.t === 'up') resolve();
          else this.handleReport(report);
        }
      });
      this.gone.then(() => reject(new Error(`the sandbox did not start: ${failedToStart ?? output.trim()}`)));
    });
    await this.bwrap.inner;
  }

  /** Forks a child, which is ready once it has made its three connections, sealed itself and reported that. */
  fork(): Child {
    return this.forkAs('fork');
  }

  /** Forks a child that becomes a warm sandbox once it receives the code to import: see warm-sandbox.ts. */
  forkWarm(): Child {
    return this.forkAs('warm');
  }

  /** Has a warm sandbox fork the process of its next run, `child`, which is ready once it has its connections. */
  forkRun(sandbox: Child, child: Child): void {
    const starting = this.registerChild(child);
    void child.exited.then(() => {
      clearTimeout(starting.timer);
      this.byNonce.delete(starting.nonce);
    });
    this.sendCommand(`connect ${sandbox.id} ${starting.nonce}`);
  }

  private forkAs(verb: 'fork' | 'warm'): Child {
    const id = String(++this.forks);
    const child = new Child(
      id,
      () => this.kill(starting),
      () => this.getHostPid(starting),
    );
    const starting = this.registerChild(child);
    this.children.set(id, starting);
    // A warm sandbox is long-lived: the pooled groups are for short-lived children.
    const group = verb === 'fork' ? this.groups?.acquire() : undefined;
    child.cgroup = group?.cgroup;
    const places = group?.places.map((place) => INHERITED_FD + place) ?? [];
    this.sendCommand([verb, id, starting.nonce, ...places].join(' '));
    return child;
  }

  /** Registers a child until it has made its connections and reported that it is ready. */
  private registerChild(child: Child): StartingChild {
    const nonce = randomBytes(16).toString('hex');
    const timer = setTimeout(() => child.state === 'starting' && child.kill('not ready in time'), READY_MS);
    const starting: StartingChild = { child, nonce, connected: new Set(), hasReportedReady: false, timer };
    child.onControl = () => this.handleFirstMessage(starting);
    this.byNonce.set(nonce, starting);
    return starting;
  }

  private sendCommand(command: string): void {
    this.bwrap.control.write(encodeRawFrame(Buffer.from(command)));
  }

  destroy(): Promise<void> {
    this.bwrap.kill();
    return this.gone;
  }

  /** Retires the zygote: idle children end at once; active runs finish. */
  retire(): void {
    this.retired = true;
    for (const { child } of this.children.values()) if (child.state !== 'running') child.kill('recycled');
    if (this.children.size === 0) void this.destroy();
  }

  /** Kills by pidfd inside the zygote, so that a reused pid cannot be hit. */
  private kill(starting: StartingChild): void {
    if (!this.dead) this.sendCommand(`kill ${starting.child.id}`);
    // Checked after a turn of the event loop: if that was blocked, the report of the exit has not been read yet.
    starting.lastResort ??= setTimeout(
      () => setImmediate(() => starting.child.state !== 'dead' && void this.destroy()),
      LAST_RESORT_MS,
    );
  }

  private authenticate(socket: net.Socket): void {
    socket.on('error', () => socket.destroy());
    const timer = setTimeout(() => socket.destroy(), READY_MS);
    let head = Buffer.alloc(0);
    const onData = (chunk: Buffer) => {
      head = Buffer.concat([head, chunk]);
      if (head.length < HELLO_BYTES) return;
      clearTimeout(timer);
      socket.off('data', onData);
      socket.pause();
      const role = head.toString('latin1', 0, 1) as Role;
      const starting = this.byNonce.get(head.toString('latin1', 1, HELLO_BYTES));
      if (!starting || !'coe'.includes(role) || starting.connected.has(role) || starting.child.state !== 'starting') {
        return socket.destroy();
      }
      starting.connected.add(role);
      if (head.length > HELLO_BYTES) socket.unshift(head.subarray(HELLO_BYTES));
      if (role === 'c') starting.child.attachControl(socket);
      else starting.child.attachLog(role === 'o' ? 'stdout' : 'stderr', socket);
      socket.resume();
      this.resolveWhenReady(starting);
    };
    socket.on('data', onData);
  }

  /** Handles the one message that a child sends before it has a run: that it is ready, or its failure. */
  private handleFirstMessage(starting: StartingChild): void {
    try {
      for (let body = starting.child.frames.next(); body; body = starting.child.frames.next()) {
        const message = JSON.parse(body.toString());
        if (message.t !== 'ready') {
          this.lastBroken = `${message.step}: ${message.error}`;
          starting.child.kill(`sandbox: ${this.lastBroken}`);
          return;
        }
        starting.hasReportedReady = true;
      }
    } catch (err) {
      starting.child.kill(`protocol: ${(err as Error).message}`);
      return;
    }
    this.resolveWhenReady(starting);
  }

  /**
   * Three connections and the zygote's own are four queues: "ready" on one may be read before the others have been
   * identified, and before the zygote has reported the child's process.
   */
  private resolveWhenReady(starting: StartingChild): void {
    const { child, connected, hasReportedReady: saidReady, nonce } = starting;
    // A child killed meanwhile may still report that it is ready: it must not be used.
    if (child.state !== 'starting' || child.killedFor || !saidReady || connected.size < 3) return;
    if (this.children.has(child.id) && starting.innerPid === undefined) return;
    this.byNonce.delete(nonce);
    void this.confine(child).then(() => {
      // It may have been killed or have died meanwhile.
      if (child.state !== 'starting' || child.killedFor) return;
      clearTimeout(starting.timer);
      child.state = 'ready';
      child.onReady?.();
    });
  }

  /** Confines a child without a pooled group. */
  private async confine(child: Child): Promise<void> {
    if (!this.settings.cgroups || child.cgroup) return;
    try {
      const cgroup = await this.settings.cgroups.confine(child.hostPid());
      if (child.state === 'starting') child.cgroup = cgroup;
      else cgroup.release();
    } catch (err) {
      this.lastBroken = `cgroup: ${(err as Error).message}`;
      child.kill(this.lastBroken);
    }
  }

  private handleReport(report: ZygoteReport): void {
    if (report.t === 'up') return;
    const starting = this.children.get(report.id);
    if (!starting) return;
    if (report.t === 'forked') {
      starting.innerPid = report.pid;
      this.resolveWhenReady(starting);
    } else this.handleChildExit(starting, { status: -1, cpuMs: 0, maxRssKb: 0, ...report });
  }

  private handleChildExit(starting: StartingChild, exit: Exit): void {
    clearTimeout(starting.timer);
    clearTimeout(starting.lastResort);
    const { child } = starting;
    const previousState = child.state;
    this.children.delete(child.id);
    this.byNonce.delete(starting.nonce);
    if (starting.innerPid) this.hostPids.delete(starting.innerPid);
    child.handleExit(exit);
    // Its last message, such as why a version cannot be warm, may still be unread.
    if (previousState !== 'running') void child.waitForControlEnd().then(() => child.close());
    this.emit('exit', child, previousState);
    if (this.retired && this.children.size === 0) void this.destroy();
  }

  private handleExit(reason: string): void {
    for (const starting of [...this.children.values()]) {
      this.handleChildExit(starting, { status: -9, cpuMs: 0, maxRssKb: 0, error: reason });
    }
    this.groups?.remove();
    this.server.close();
    fs.rmSync(this.dir, { recursive: true, force: true });
    this.emit('died', reason);
  }

  private getHostPid(starting: StartingChild): number {
    const inner = starting.innerPid ?? 0;
    if (!this.hostPids.has(inner)) {
      const known = new Set(this.hostPids.values());
      const children = fs.readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, 'utf8').trim().split(' ');
      for (const pid of children.map(Number)) {
        const innerPid = known.has(pid) ? undefined : findInnerPid(pid);
        if (innerPid !== undefined) this.hostPids.set(innerPid, pid);
      }
    }
    const pid = this.hostPids.get(inner);
    if (!pid) throw new Error(`no process for child ${starting.child.id}`);
    return pid;
  }
}

/**
 * Finds a child's pid in the zygote's namespace: the last but one column of NSpid, before its own (1). Undefined if it
 * has exited.
 */
function findInnerPid(pid: number): number | undefined {
  try {
    const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
    const innerPid = Number(/^NSpid:.*\s(\d+)\s+\d+$/m.exec(status)?.[1]);
    return innerPid || undefined;
  } catch {
    return undefined;
  }
}
