import type { Child } from './child';
import { startColdChild } from './cold-run';
import { ChildPool } from './pool';
import type { SandboxSettings, SandboxSpec } from './settings';
import { type AcquiredWarm, WarmPool, type WarmRequest, type WarmSubject } from './warm-pool';

export type Isolation = 'zygote' | 'process';

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

/** @param isolation 'process': no zygote at all, every run is cold. */
export async function startSandbox(settings: SandboxSettings, isolation: Isolation) {
  const pool = isolation === 'zygote' ? new ChildPool(settings) : undefined;
  await pool?.start().catch(async (err) => {
    await pool.stop();
    throw err;
  });
  const { slots, warmBytes, recycleMs } = settings;
  const warm =
    pool && warmBytes > 0
      ? new WarmPool({ zygote: () => pool.current, sandboxesMax: slots, bytesMax: warmBytes, recycleMs })
      : undefined;
  return {
    /** Undefined if every run is cold. */
    pool,
    /** Acquires a child that has imported the code, if there is one or will be soon; a reason if there never will be. */
    acquireWarm: (request: WarmRequest): AcquiredWarm => warm?.acquire(request) ?? {},
    /** Imports code ahead of its runs, if there is room. Resolves when that is finished. */
    importAhead: async (request: WarmRequest, isStandby: boolean) => warm?.preload(request, isStandby),
    /** Ends the warm sandboxes of a worker or automation, except those for runs like `current`. */
    endOthers: (subject: WarmSubject, current?: WarmRequest) => warm?.endOthers(subject, current),
    /** Number of warm sandboxes. */
    warm: () => warm?.size() ?? 0,
    /** Acquires a child that waits for `spec`: synchronous if one is ready. */
    acquire: (childIsolation: Isolation, spec: SandboxSpec): Child | Promise<Child> =>
      pool && childIsolation === 'zygote' ? pool.acquire() : startColdChild(settings, spec),
    /** Number of sealed children waiting for a run. */
    ready: () => pool?.idle.length ?? settings.slots,
    restarts: () => pool?.restarts ?? 0,
    async stop() {
      warm?.stop();
      await pool?.stop();
    },
  };
}
