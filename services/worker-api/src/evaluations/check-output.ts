/** All that is done with the output of a run that an example judges, but for asking models. */
import type { StoredOutput } from '@gantry/run-engine';
import { parseOutput, toRunOutput } from '../runs/output-object';
import { toBoundedJson } from './compare-values';
import { type EndedRun, type JudgedExample, type JudgeRequest, listVerdicts, type Verdict } from './verdict';

/** A larger output is to be read from the run. */
const OUTPUT_CHARS_MAX = 8 * 1024;

export interface CheckTask {
  example: JudgedExample;
  run: Omit<EndedRun, 'output'>;
  output: StoredOutput;
}

export interface CheckedOutput {
  found: (Verdict | JudgeRequest)[];
  /** JSON; null: none, or too large. */
  output: string | null;
}

export function checkOutput({ example, run, output: stored }: CheckTask): CheckedOutput {
  const output = toRunOutput(run, parseOutput(stored));
  const json = output && toBoundedJson(output);
  return {
    found: listVerdicts(example, { ...run, output }),
    output: json !== null && json.length <= OUTPUT_CHARS_MAX ? json : null,
  };
}
