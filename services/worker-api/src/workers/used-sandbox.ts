import type { UsedSandbox } from '@gantry/events';

/** As the API shows it, of runs and workers. */
export const sandboxToApi = (sandbox: UsedSandbox | null) =>
  sandbox && { mode: sandbox.mode, reason: sandbox.reason ?? null };
