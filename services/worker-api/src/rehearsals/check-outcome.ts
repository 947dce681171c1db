/** Checks the outcome of a run against the expectations of an example. Judging models are asked elsewhere. */
import type { SurfaceSchemas } from '@gantry/openapi';
import { listMismatchMessages } from '../connection-tools/check-arguments';
import type { Check, JudgeCheck } from '../examples/check';
import type { ExampleContent } from '../examples/example';
import { parseOutput, toRunOutput } from '../runs/output-object';
import {
  describeDifference,
  describeMissing,
  resolvePointer,
  type TruncatedJson,
  toBoundedJson,
  truncateJson,
  WHOLE,
} from './compare-values';
import { includesText } from './includes-text';
import type { RunOutcome, StoredRunOutcome } from './run-outcome';

/** `path`: JSON pointer; null: the whole output, or nothing of it. `score`: 0 to 1. */
export type Verdict = SurfaceSchemas<'worker'>['CheckResult'];

/** A judge has to be asked. */
export interface JudgeRequest {
  judge: JudgeCheck;
  /** That part of the output. */
  output: TruncatedJson;
}

const JUDGED_CHARS_MAX = 60_000;

/** A larger output is to be read from the run. */
const OUTPUT_CHARS_MAX = 8 * 1024;

type Expectations = Pick<ExampleContent, 'checks' | 'maxDurationSeconds' | 'maxCostUsd'>;

export interface OutcomeCheckInput extends Expectations {
  outcome: StoredRunOutcome;
}

export interface OutcomeCheckResult {
  /** In the order of the checks; then those of how long it took and what it cost. */
  found: (Verdict | JudgeRequest)[];
  /** JSON; null: none, or too large. */
  output: string | null;
}

/** Takes time that checks and output decide: services use the threads of `outcome-judge.ts`. */
export function checkRunOutcome({ outcome, checks, ...bounds }: OutcomeCheckInput): OutcomeCheckResult {
  const output = outcome.output ? toRunOutput(outcome, parseOutput(outcome.output)) : null;
  const json = output && toBoundedJson(output);
  return {
    found: [...checks.map((check) => judgeCheck(check, { ...outcome, output })), ...checkBounds(bounds, outcome)],
    output: json !== null && json.length <= OUTPUT_CHARS_MAX ? json : null,
  };
}

function judgeCheck(check: Check, run: RunOutcome): Verdict | JudgeRequest {
  if (check.kind === 'fails') return judgeExpectedFailure(check, run);
  const { kind, path } = check;
  const toVerdict = (problem: string | null): Verdict => ({
    ...buildVerdict(kind, problem === null, problem ?? 'as expected'),
    path: path || null,
  });
  if (run.status !== 'completed') return toVerdict(`the run ${describeFailure(run)}`);
  const part = resolvePointer(run.output, path ?? '');
  if (!part) return toVerdict(`the output has no value at ${path}`);
  const { value } = part;
  const name = path || WHOLE;
  switch (check.kind) {
    case 'equal':
      return toVerdict(describeDifference(check.value, value, check.tolerance ?? 0, name));
    case 'contains':
      return toVerdict(describeMissing(value, check.value, check.ignore_case ?? false, name));
    case 'schema':
      return toVerdict(listMismatchMessages(check.schema, value, name).join('; ') || null);
    case 'judge':
      return { judge: check, output: truncateJson(value, JUDGED_CHARS_MAX) };
  }
}

function judgeExpectedFailure({ error_contains: text }: Extract<Check, { kind: 'fails' }>, run: RunOutcome): Verdict {
  if (run.status === 'completed') return buildVerdict('fails', false, 'the run completed, but was expected to fail');
  const message = run.error?.message ?? '';
  if (text !== undefined && !includesText(message, text))
    return buildVerdict(
      'fails',
      false,
      `the run was expected to fail with a different error, but it ${describeFailure(run)}`,
    );
  return buildVerdict('fails', true, 'as expected');
}

const ERROR_CHARS_MAX = 1_000;

export const describeFailure = ({ status, error }: Pick<RunOutcome, 'status' | 'error'>): string =>
  [status === 'timed_out' ? 'timed out' : 'failed', error?.message.slice(0, ERROR_CHARS_MAX)]
    .filter(Boolean)
    .join(': ');

function checkBounds(
  { maxDurationSeconds, maxCostUsd }: Omit<Expectations, 'checks'>,
  { durationMs, costUsd }: StoredRunOutcome,
): Verdict[] {
  const seconds = (durationMs ?? 0) / 1_000;
  const verdicts: Verdict[] = [];
  if (maxDurationSeconds !== null) {
    const message = `it took ${seconds} s, of ${maxDurationSeconds} s`;
    verdicts.push(buildVerdict('max_duration', seconds <= maxDurationSeconds, message));
  }
  if (maxCostUsd !== null) {
    const message = `it cost ${costUsd} USD, of ${maxCostUsd} USD`;
    verdicts.push(buildVerdict('max_cost', costUsd <= maxCostUsd, message));
  }
  return verdicts;
}

const buildVerdict = (kind: Verdict['kind'], passed: boolean, message: string): Verdict => ({
  kind,
  path: null,
  passed,
  message,
  score: null,
});
