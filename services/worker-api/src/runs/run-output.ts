import { ObjectMissing } from '@gantry/object-store';
import type { Run, RunEngine } from '@gantry/run-engine';

/** `output` of a run is an object (api-spec.md): what code returns that is none stands under `result`. */
export function outputObject(output: unknown): Record<string, unknown> {
  const isObject = typeof output === 'object' && output !== null && !Array.isArray(output);
  return isObject ? (output as Record<string, unknown>) : { result: output ?? null };
}

/** Null until it has completed. */
export const outputOf = ({ status }: Pick<Run, 'status'>, output: unknown): Record<string, unknown> | null =>
  status === 'completed' ? outputObject(output) : null;

/** A large output that the object store has lost takes nothing else of the run along. */
export async function readOutput(engine: Pick<RunEngine, 'outputToSend'>, run: Run) {
  try {
    return { output: outputOf(run, await engine.outputToSend(run, 'result')) };
  } catch (err) {
    if (err instanceof ObjectMissing) return { output: null, output_missing: true };
    throw err;
  }
}
