/** Outputs as they are stored and shown. Threads use it, so that it loads nothing else. */
import type { Run, StoredOutput } from '@gantry/run-engine';

/** `output` of a run is an object (api-spec.md): what code returns that is none stands under `result`. */
export function outputObject(output: unknown): Record<string, unknown> {
  const isObject = typeof output === 'object' && output !== null && !Array.isArray(output);
  return isObject ? (output as Record<string, unknown>) : { result: output ?? null };
}

/** Null until it has completed. */
export const outputOf = ({ status }: Pick<Run, 'status'>, output: unknown): Record<string, unknown> | null =>
  status === 'completed' ? outputObject(output) : null;

export const parseOutput = (stored: StoredOutput): unknown =>
  'json' in stored ? JSON.parse(Buffer.from(stored.json).toString()) : stored.value;
