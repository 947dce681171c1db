/**
 * Keeps warm sandboxes within a memory limit. A version gets one ahead of its runs when it is announced, or else with
 * its second run within a while, and another one if all of its own are in use.
 */
import { getAvailableMemory, getMachineMemory } from './available-memory';
import type { Child } from './child';
import { type WarmImport, WarmSandbox } from './warm-sandbox';
import type { ZygoteProcess } from './zygote-process';

/** A worker or automation. */
export interface WarmSubject {
  workspaceId: string;
  subjectId?: string | undefined;
}

export interface WarmRequest extends WarmImport, WarmSubject {
  /** Pins its files in the store while a sandbox uses them. @returns a function that unpins them */
  pin(): Promise<() => void>;
}

export interface AcquiredWarm {
  child?: Child | Promise<Child | undefined>;
  reason?: string;
}

export interface WarmPoolOptions {
  zygote(): ZygoteProcess | undefined;
  /** Limit per version. */
  sandboxesMax: number;
  bytesMax: number;
  /** A sandbox is replaced after this long. */
  recycleMs: number;
}

interface Version extends WarmSubject {
  usedAt: number;
  sandboxes: WarmSandbox[];
  isImporting: boolean;
  /** It was removed from the versions. */
  isForgotten: boolean;
  /** The reason why it cannot be warm. */
  reason?: string;
  /** Requests a new sandbox when its last one has ended, while it is used or announced. */
  standby?: WarmRequest | undefined;
  announcedAt: number;
  /** Memory of its last sandbox. */
  bytes: number;
  /** Sandboxes in a row that ended before they had a process for a run. */
  failures: number;
  failedAt: number;
}

/** Maximum time between two runs that warrant a sandbox, and without a run until its sandboxes end. */
const REPEATED_MS_MAX = 10 * 60_000;
const SWEEP_MS = 15_000;
const RETRY_MS = 15_000;
const RETRY_DOUBLINGS_MAX = 8;
const VERSIONS_MAX = 2_000;
/** A workspace's maximum share of the memory, so that others have some. */
const WORKSPACE_SHARE_MAX = 0.5;
/** Above this share of the limit, a sandbox is evicted for another only if it has not been used for a while. */
const FULL_SHARE = 0.9;
const UNUSED_MS_MIN = 60_000;
/** Below this share of available machine memory, warm sandboxes are evicted, the least recently used first. */
const AVAILABLE_SHARE_MIN = 0.1;

export const WARM_BYTES_DEFAULT = Math.round(getMachineMemory() * 0.15);

export class WarmPool {
  /** By key of runs that can share a sandbox, the least recently used first. */
  private readonly versions = new Map<string, Version>();
  private readonly sandboxes = new Map<WarmSandbox, Version>();
  /** Set during an import for a run, which imports ahead of runs never delay. */
  private isImporting = false;
  private importsAhead = Promise.resolve();
  private stopped = false;
  private sweeping?: NodeJS.Timeout;

  constructor(private readonly options: WarmPoolOptions) {}

  /**
   * Acquires a process that has imported the code, if there is one or will be soon; a `reason` if there never will be.
   */
  acquire(request: WarmRequest): AcquiredWarm {
    const version = this.getVersion(request);
    const isRepeated = Date.now() - version.usedAt < REPEATED_MS_MAX;
    version.usedAt = Date.now();
    if (isRepeated) version.standby = request;
    if (version.reason) return { reason: version.reason };
    for (const sandbox of version.sandboxes) {
      const child = sandbox.acquire();
      if (child) return { child };
    }
    const expected = version.sandboxes.find((sandbox) => sandbox.isExpected);
    if (expected) return { child: expected.waitForNext() };
    if (isRepeated && !this.isImporting && this.canImport(version) && this.hasCapacity()) {
      this.isImporting = true;
      const finish = () => {
        this.isImporting = false;
      };
      void this.import(version, request, () => true).then(finish);
    }
    return {};
  }

  /**
   * Imports a version ahead of its runs, one at a time, unless it has a sandbox. Never ends a sandbox that is in use or
   * was within the last minute. Resolves when it is finished, whatever the outcome.
   * @param isStandby the version has one at all times, as long as this is repeated and without taking memory from
   * others
   */
  preload(request: WarmRequest, isStandby: boolean): Promise<void> {
    this.importsAhead = this.importsAhead.then(() => {
      const version = this.getVersion(request);
      version.announcedAt = Date.now();
      if (isStandby) version.standby = request;
      return this.importIfNeeded(version, request, isStandby);
    });
    return this.importsAhead;
  }

  /** Ends the sandboxes of this worker or automation, those in use after their run, except for runs like this one. */
  endOthers({ workspaceId, subjectId }: WarmSubject, current?: WarmRequest): void {
    const currentKey = current && toKey(current);
    for (const [key, version] of this.versions) {
      const isOther = version.workspaceId === workspaceId && version.subjectId === subjectId && key !== currentKey;
      if (isOther) this.forget(key, version);
    }
  }

  /** Number of sandboxes. */
  size(): number {
    return this.sandboxes.size;
  }

  stop(): void {
    this.stopped = true;
    clearInterval(this.sweeping);
    for (const sandbox of this.sandboxes.keys()) sandbox.end();
  }

  private async importIfNeeded(version: Version, request: WarmRequest, isStandby: boolean): Promise<void> {
    if (version.reason || version.sandboxes.length > 0 || !this.canImport(version)) return;
    if (isStandby && this.hasCapacityFor(version)) await this.import(version, request, () => false, true);
    else if (!isStandby && this.hasCapacity()) await this.import(version, request, isUnused, true);
  }

  private getVersion(request: WarmRequest): Version {
    const { workspaceId, subjectId } = request;
    const key = toKey(request);
    const version = this.versions.get(key) ?? {
      workspaceId,
      subjectId,
      usedAt: 0,
      announcedAt: 0,
      failedAt: 0,
      failures: 0,
      bytes: 0,
      sandboxes: [],
      isImporting: false,
      isForgotten: false,
    };
    this.versions.delete(key);
    this.versions.set(key, version);
    if (this.versions.size > VERSIONS_MAX) this.evictOldestVersion();
    return version;
  }

  private canImport({ sandboxes, isImporting, isForgotten, failures, failedAt }: Version): boolean {
    const waitMs = failures > 1 ? RETRY_MS * 2 ** Math.min(failures, RETRY_DOUBLINGS_MAX) : 0;
    if (this.stopped || isImporting || isForgotten || Date.now() - failedAt < waitMs) return false;
    return sandboxes.length < this.options.sandboxesMax && !isMemoryLow();
  }

  /** Returns whether there is room: versions that alternate in too little memory would only import. */
  private hasCapacity(): boolean {
    const sandboxes = [...this.sandboxes.keys()];
    return sumBytes(sandboxes) < this.options.bytesMax * FULL_SHARE || sandboxes.some(isUnused);
  }

  /** Returns whether a version fits beside all others, as far as its size is known. */
  private hasCapacityFor({ workspaceId, bytes }: Version): boolean {
    const { bytesMax } = this.options;
    const heldBytes = this.computeBytesByWorkspace().get(workspaceId) ?? 0;
    return (
      sumBytes(this.sandboxes.keys()) + bytes < bytesMax * FULL_SHARE &&
      heldBytes + bytes < bytesMax * WORKSPACE_SHARE_MAX
    );
  }

  /** @param canEnd whether this sandbox, which no run uses, may be evicted for the new one */
  private async import(
    version: Version,
    request: WarmRequest,
    canEnd: (sandbox: WarmSandbox) => boolean,
    isAhead = false,
  ): Promise<void> {
    version.isImporting = true;
    let isReady = false;
    const recordFailure = () => {
      version.failures++;
      version.failedAt = Date.now();
    };
    try {
      const unpin = await request.pin();
      const zygote = this.options.zygote();
      if (this.stopped || version.isForgotten || !zygote || zygote.dead || zygote.retired) return unpin();
      const sandbox = new WarmSandbox(zygote, request);
      if (isAhead) sandbox.usedAt = 0;
      version.sandboxes.push(sandbox);
      this.sandboxes.set(sandbox, version);
      this.sweeping ??= setInterval(() => this.evictExpired(), SWEEP_MS).unref();
      await new Promise<void>((resolve) => {
        sandbox.once('ready', () => {
          isReady = true;
          version.failures = 0;
          version.bytes = sandbox.bytes;
          if (sandbox.bytes > this.options.bytesMax * WORKSPACE_SHARE_MAX) {
            version.reason = 'its imports need more memory than one workspace can use for warm sandboxes';
            sandbox.end();
          } else this.evictFor(sandbox, canEnd);
          resolve();
        });
        sandbox.once('gone', (reason) => {
          unpin();
          if (!isReady) recordFailure();
          this.removeEnded(sandbox, version, reason);
          resolve();
        });
      });
    } catch {
      // Its files can't be pinned: its next run reports why.
      recordFailure();
    } finally {
      version.isImporting = false;
    }
  }

  private removeEnded(sandbox: WarmSandbox, version: Version, reason: string | undefined): void {
    version.sandboxes.splice(version.sandboxes.indexOf(sandbox), 1);
    version.reason ??= reason;
    this.sandboxes.delete(sandbox);
    const { standby, usedAt, announcedAt } = version;
    if (!standby || Date.now() - Math.max(usedAt, announcedAt) >= REPEATED_MS_MAX) return;
    this.importsAhead = this.importsAhead.then(() => this.importIfNeeded(version, standby, true));
  }

  /** Evicts the least recently used first, until the rest fits; as a last resort, the new one. */
  private evictFor(newSandbox: WarmSandbox, canEnd: (sandbox: WarmSandbox) => boolean): void {
    const { bytesMax } = this.options;
    const heldBytes = this.computeBytesByWorkspace();
    let total = sumBytes(this.sandboxes.keys());
    const endable = this.listByLastUse().filter(
      (sandbox) => sandbox !== newSandbox && !sandbox.isRunning && canEnd(sandbox),
    );
    for (const sandbox of [...endable, newSandbox]) {
      const workspaceId = this.sandboxes.get(sandbox)?.workspaceId ?? '';
      const ofWorkspace = heldBytes.get(workspaceId) ?? 0;
      if (total <= bytesMax && ofWorkspace <= bytesMax * WORKSPACE_SHARE_MAX) continue;
      heldBytes.set(workspaceId, ofWorkspace - sandbox.bytes);
      total -= sandbox.bytes;
      sandbox.end();
    }
  }

  private computeBytesByWorkspace(): Map<string, number> {
    const heldBytes = new Map<string, number>();
    for (const [{ bytes }, { workspaceId }] of this.sandboxes) {
      heldBytes.set(workspaceId, (heldBytes.get(workspaceId) ?? 0) + bytes);
    }
    return heldBytes;
  }

  /** Lists the least recently used first: before all others those that no run has used. */
  private listByLastUse(): WarmSandbox[] {
    return [...this.sandboxes.keys()].sort((a, b) => a.usedAt - b.usedAt);
  }

  private evictExpired(): void {
    const now = Date.now();
    let isShort = isMemoryLow();
    for (const sandbox of this.listByLastUse()) {
      const version = this.sandboxes.get(sandbox);
      if (!version) continue;
      const usedAt = Math.max(sandbox.usedAt, version.announcedAt);
      if (!sandbox.isIdle()) version.reason = 'its code keeps running between runs';
      else if (sandbox.isRunning) continue;
      else if (isShort) {
        isShort = false;
        version.standby = undefined;
      } else if (now - usedAt < REPEATED_MS_MAX && now - sandbox.startedAt < this.options.recycleMs) continue;
      sandbox.end();
    }
    if (this.sandboxes.size > 0) return;
    clearInterval(this.sweeping);
    this.sweeping = undefined;
  }

  /** Forgets versions with sandboxes last: their number is limited by memory. */
  private evictOldestVersion(): void {
    const versions = [...this.versions];
    const [key, version] = versions.find(([, { sandboxes }]) => !sandboxes.length) ?? versions[0] ?? [];
    if (key !== undefined && version) this.forget(key, version);
  }

  private forget(key: string, version: Version): void {
    this.versions.delete(key);
    version.isForgotten = true;
    for (const sandbox of version.sandboxes) sandbox.end();
  }
}

const toKey = ({ workspaceId, subjectId, entrypoint, secretNames, spec, memoryBytes, processes }: WarmRequest) =>
  JSON.stringify([workspaceId, subjectId, entrypoint, secretNames, spec, memoryBytes, processes]);

const isUnused = ({ isRunning, usedAt }: WarmSandbox) => !isRunning && Date.now() - usedAt > UNUSED_MS_MIN;

const isMemoryLow = () => getAvailableMemory() < getMachineMemory() * AVAILABLE_SHARE_MIN;

const sumBytes = (sandboxes: Iterable<WarmSandbox>) => [...sandboxes].reduce((total, { bytes }) => total + bytes, 0);
