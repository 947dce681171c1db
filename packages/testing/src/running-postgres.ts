import type { RunningProcess } from '@gantry/platform';

// Jest loads setup and teardown as separate module graphs of one process: only the global object is shared.
const shared = globalThis as { gantryTestPostgres?: RunningProcess };

export function remember(running: RunningProcess): void {
  shared.gantryTestPostgres = running;
}

export function recall(): RunningProcess | undefined {
  return shared.gantryTestPostgres;
}
