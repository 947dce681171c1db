import type { SandboxInfo } from '@gantry/events';

/** As the API shows it, of runs and workers. */
export const sandboxToApi = (sandbox: SandboxInfo | null) =>
  sandbox && { mode: sandbox.mode, reason: sandbox.reason ?? null };
