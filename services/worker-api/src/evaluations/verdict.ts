/** Verdicts of checks on a run that has ended. judge.ts asks the judging models. */
import type { Run } from '@gantry/run-engine';
import { listMismatchMessages } from '../connection-tools/check-arguments';
import type { Check, JudgeCheck } from '../examples/check';
import type { ExampleContent } from '../examples/example';
import {
  describeDifference,
  describeMissing,
  resolvePointer,
  type TruncatedJson,
  truncateJson,
  WHOLE,
} from './compare-values';
import { includesText } from './includes-text';

export interface Verdict {
  kind: Check['kind'] | 'max_duration' | 'max_cost';
  /** JSON pointer; null: the whole output, or nothing of it. */
  path: string | null;
  passed: boolean;
  message: string;
  /** The score of a judge, 0 to 1. */
  score: number | null;
}

/** A run that has ended by itself, with its output as the API shows it. */
export interface EndedRun {
  status: 'completed' | 'failed' | 'timed_out';
  error: Run['error'];
  output: Record<string, unknown> | null;
  /** From start to end; null: it never started. */
  durationMs: number | null;
  costUsd: number;
}

/** A judge has to be asked. */
export interface JudgeRequest {
  judge: JudgeCheck;
  /** That part of the output. */
  output: TruncatedJson;
}

const JUDGED_CHARS_MAX = 60_000;

export type JudgedExample = Pick<ExampleContent, 'checks' | 'maxDurationSeconds' | 'maxCostUsd'>;

/**
 * In the order of the checks; then those of how long it took and what it cost. Takes time that checks and output
 * decide: services use the threads of `output-checks.ts`.
 */
export function listVerdicts(example: JudgedExample, run: EndedRun): (Verdict | JudgeRequest)[] {
  return [...example.checks.map((check) => judgeCheck(check, run)), ...checkBounds(example, run)];
}

function judgeCheck(check: Check, run: EndedRun): Verdict | JudgeRequest {
  if (check.kind === 'fails') return judgeExpectedFailure(check, run);
  const { path } = check;
  const toVerdict = (message: string | null): Verdict => ({
    kind: check.kind,
    path: path || null,
    score: null,
    passed: message === null,
    message: message ?? 'as expected',
  });
  if (run.status !== 'completed') return toVerdict(`the run ${describeEnding(run)}`);
  const part = resolvePointer(run.output, path ?? '');
  if (!part) return toVerdict(`the output has no ${path}`);
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

function judgeExpectedFailure({ error_contains: text }: Extract<Check, { kind: 'fails' }>, run: EndedRun): Verdict {
  const buildVerdict = (passed: boolean, message: string) => ({
    kind: 'fails' as const,
    path: null,
    score: null,
    passed,
    message,
  });
  if (run.status === 'completed') return buildVerdict(false, 'the run completed');
  const message = run.error?.message ?? '';
  if (text !== undefined && !includesText(message, text))
    return buildVerdict(false, `its error says otherwise: it ${describeEnding(run)}`);
  return buildVerdict(true, 'as expected');
}

const ERROR_CHARS_MAX = 1_000;

export const describeEnding = ({ status, error }: Pick<EndedRun, 'status' | 'error'>): string =>
  [status === 'timed_out' ? 'timed out' : 'failed', error?.message.slice(0, ERROR_CHARS_MAX)]
    .filter(Boolean)
    .join(': ');

function checkBounds({ maxDurationSeconds, maxCostUsd }: JudgedExample, { durationMs, costUsd }: EndedRun): Verdict[] {
  const seconds = (durationMs ?? 0) / 1_000;
  return [
    ...(maxDurationSeconds === null
      ? []
      : [
          buildLimitVerdict(
            'max_duration',
            seconds <= maxDurationSeconds,
            `it took ${seconds} s, of ${maxDurationSeconds} s`,
          ),
        ]),
    ...(maxCostUsd === null
      ? []
      : [buildLimitVerdict('max_cost', costUsd <= maxCostUsd, `it cost ${costUsd} USD, of ${maxCostUsd} USD`)]),
  ];
}

const buildLimitVerdict = (kind: 'max_duration' | 'max_cost', passed: boolean, message: string): Verdict => ({
  kind,
  path: null,
  passed,
  message,
  score: null,
});
