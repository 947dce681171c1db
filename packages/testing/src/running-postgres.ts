import type { RunningProcess } from '@gantry/platform';

// Jest loads setup and teardown as separate module graphs of one process: only the global object is shared.
const shared = globalThis as { gantryTestPostgres?: RunningProcess };

export function setRunningPostgres(running: RunningProcess): void {
  shared.gantryTestPostgres = running;
}

export function findRunningPostgres(): RunningProcess | undefined {
  return shared.gantryTestPostgres;
}
