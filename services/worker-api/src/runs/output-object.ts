/** Converts stored outputs to their API form. Threads load this module, so it imports nothing else. */
import type { Run, StoredOutput } from '@gantry/run-engine';

/** Wraps what is not an object under `result`, since `output` of a run is an object (api-spec.md). */
export function toOutputObject(output: unknown): Record<string, unknown> {
  const isObject = typeof output === 'object' && output !== null && !Array.isArray(output);
  return isObject ? (output as Record<string, unknown>) : { result: output ?? null };
}

/** Returns null until the run has completed. */
export const toRunOutput = ({ status }: Pick<Run, 'status'>, output: unknown): Record<string, unknown> | null =>
  status === 'completed' ? toOutputObject(output) : null;

export const parseOutput = (stored: StoredOutput): unknown =>
  'json' in stored ? JSON.parse(Buffer.from(stored.json).toString()) : stored.value;
