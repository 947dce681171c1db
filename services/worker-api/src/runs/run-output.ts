import { ObjectMissingError } from '@gantry/object-store';
import type { Run, RunEngine } from '@gantry/run-engine';
import { toRunOutput } from './output-object';

/** A large output that the object store has lost takes nothing else of the run along. */
export async function loadRunOutput(engine: Pick<RunEngine, 'loadOutputForResponse'>, run: Run) {
  try {
    return { output: toRunOutput(run, await engine.loadOutputForResponse(run, 'result')) };
  } catch (err) {
    if (err instanceof ObjectMissingError) return { output: null, output_missing: true };
    throw err;
  }
}
