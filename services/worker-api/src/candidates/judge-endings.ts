/** Parses the outputs of a case, compares them, and shortens them for the report. */
import type { RunErrorCode } from '@gantry/events';
import type { StoredOutput } from '@gantry/run-engine';
import { parseOutput } from '../runs/output-object';
import { type ApiRunStatus, toApiStatus } from '../workers/run-status';
import { formatJson, truncateText } from './compare-outputs';
import { type Judgement, judgeCase, type RunEnding } from './judge-case';

export const ERROR_CHARS_MAX = 2_000;
const OUTPUT_CHARS_MAX = 4_000;

/** The end of a run with its output as it is stored; undefined unless it completed. */
export type StoredEnding = Omit<RunEnding, 'output'> & { output: StoredOutput | undefined };

/** The shortened form that is stored and shown. */
export interface ApiEnding {
  status: ApiRunStatus;
  error: string | null;
  error_code: RunErrorCode | null;
  output: string | null;
}

export interface EndingsTask {
  recorded: StoredEnding;
  rehearsed: StoredEnding;
  /** Null: the version that the candidate was made from was not rehearsed. */
  base: StoredEnding | null;
}

export interface CaseJudgement {
  /** Null: the version that the candidate was made from is to be rehearsed first. */
  judgement: Judgement | null;
  recorded: ApiEnding;
  rehearsed: ApiEnding;
}

export function judgeEndings({ recorded, rehearsed, base }: EndingsTask): CaseJudgement {
  const [was, now] = [parseEnding(recorded), parseEnding(rehearsed)];
  return {
    judgement: judgeCase(was, now, base && parseEnding(base)),
    recorded: toApiEnding(was),
    rehearsed: toApiEnding(now),
  };
}

const parseEnding = ({ output, ...ending }: StoredEnding): RunEnding => ({
  ...ending,
  output: output && parseOutput(output),
});

export const toApiEnding = ({ status, error, errorCode, output }: RunEnding): ApiEnding => ({
  status: toApiStatus(status),
  error: error === null ? null : truncateText(error, ERROR_CHARS_MAX),
  error_code: errorCode,
  output: status === 'completed' ? formatJson(output, OUTPUT_CHARS_MAX) : null,
});
