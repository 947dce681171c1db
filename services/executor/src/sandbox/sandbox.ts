import type { Child } from './child';
import { startColdChild } from './cold-run';
import { ChildPool } from './pool';
import type { SandboxSettings, SandboxSpec } from './settings';

export type Isolation = 'zygote' | 'process';

export interface Sandbox {
  /** A child that waits for `spec`: synchronous if one is ready. */
  acquire(isolation: Isolation, spec: SandboxSpec): Child | Promise<Child>;
  /** Number of sealed children waiting for a run. */
  ready(): number;
  restarts(): number;
  stop(): Promise<void>;
  /** Undefined if every run is cold. */
  pool?: ChildPool;
}

/** @param isolation 'process': no zygote at all, every run is cold. */
export async function startSandbox(settings: SandboxSettings, isolation: Isolation): Promise<Sandbox> {
  const pool = isolation === 'zygote' ? new ChildPool(settings) : undefined;
  await pool?.start().catch(async (err) => {
    await pool.stop();
    throw err;
  });
  return {
    pool,
    acquire: (wanted, spec) => (pool && wanted === 'zygote' ? pool.take() : startColdChild(settings, spec)),
    ready: () => pool?.idle.length ?? settings.slots,
    restarts: () => pool?.restarts ?? 0,
    stop: async () => pool?.stop(),
  };
}
