import type { RunLimits } from '@gantry/events';

const MB = 1024 * 1024;

/** Builds the limits of a run. The wall clock limit is the program's own; the rest suits a machine with two cores. */
export function buildRunLimits(wallSeconds: number): RunLimits {
  return {
    wallMs: wallSeconds * 1_000,
    cpuSeconds: wallSeconds,
    memoryBytes: 512 * MB,
    processes: 32,
    tmpBytes: 256 * MB,
    outputBytes: 8 * MB,
    logBytes: 2 * MB,
    artifactBytes: 32 * MB,
  };
}
