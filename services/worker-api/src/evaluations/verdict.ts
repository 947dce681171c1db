/** Verdicts of checks on a run that has ended. judge.ts asks the judging models. */
import type { Run } from '@gantry/run-engine';
import { listFitMessages } from '../connection-tools/check-arguments';
import type { Check, JudgeCheck } from '../examples/check';
import type { ExampleContent } from '../examples/example';
import { type CutJson, cutJson, difference, lacks, partAt, WHOLE } from './compare';
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
export interface Asked {
  judge: JudgeCheck;
  /** That part of the output. */
  output: CutJson;
}

const JUDGED_CHARS_MAX = 60_000;

export type JudgedExample = Pick<ExampleContent, 'checks' | 'maxDurationSeconds' | 'maxCostUsd'>;

/**
 * In the order of the checks; then those of how long it took and what it cost. Takes time that checks and output
 * decide: services use the threads of `output-checks.ts`.
 */
export function listVerdicts(example: JudgedExample, run: EndedRun): (Verdict | Asked)[] {
  return [...example.checks.map((check) => judgeCheck(check, run)), ...checkBounds(example, run)];
}

function judgeCheck(check: Check, run: EndedRun): Verdict | Asked {
  if (check.kind === 'fails') return failure(check, run);
  const { path } = check;
  const toVerdict = (message: string | null): Verdict => ({
    kind: check.kind,
    path: path || null,
    score: null,
    passed: message === null,
    message: message ?? 'as expected',
  });
  if (run.status !== 'completed') return toVerdict(`the run ${describeEnding(run)}`);
  const part = partAt(run.output, path ?? '');
  if (!part) return toVerdict(`the output has no ${path}`);
  const { value } = part;
  const name = path || WHOLE;
  switch (check.kind) {
    case 'equal':
      return toVerdict(difference(check.value, value, check.tolerance ?? 0, name));
    case 'contains':
      return toVerdict(lacks(value, check.value, check.ignore_case ?? false, name));
    case 'schema':
      return toVerdict(listFitMessages(check.schema, value, name).join('; ') || null);
    case 'judge':
      return { judge: check, output: cutJson(value, JUDGED_CHARS_MAX) };
  }
}

function failure({ error_contains: words }: Extract<Check, { kind: 'fails' }>, run: EndedRun): Verdict {
  const verdict = (passed: boolean, message: string) => ({
    kind: 'fails' as const,
    path: null,
    score: null,
    passed,
    message,
  });
  if (run.status === 'completed') return verdict(false, 'the run completed');
  const message = run.error?.message ?? '';
  if (words !== undefined && !includesText(message, words))
    return verdict(false, `its error says otherwise: it ${describeEnding(run)}`);
  return verdict(true, 'as expected');
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
      : [bound('max_duration', seconds <= maxDurationSeconds, `it took ${seconds} s, of ${maxDurationSeconds} s`)]),
    ...(maxCostUsd === null
      ? []
      : [bound('max_cost', costUsd <= maxCostUsd, `it cost ${costUsd} USD, of ${maxCostUsd} USD`)]),
  ];
}

const bound = (kind: 'max_duration' | 'max_cost', passed: boolean, message: string): Verdict => ({
  kind,
  path: null,
  passed,
  message,
  score: null,
});
