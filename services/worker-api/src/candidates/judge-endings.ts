/** Parses the outputs of a case, compares them, and shortens them for the report. */
import type { RunErrorCode } from '@gantry/events';
import type { StoredOutput } from '@gantry/run-engine';
import { parseOutput } from '../runs/output-object';
import { type ApiRunStatus, toApiStatus } from '../workers/run-status';
import { formatJson, truncateText } from './compare-outputs';
import { type Ending, type Judgement, judgeCase } from './judge-case';

export const ERROR_CHARS_MAX = 2_000;
const OUTPUT_CHARS_MAX = 4_000;

/** The end of a run with its output as it is stored; undefined unless it completed. */
export type StoredEnding = Omit<Ending, 'output'> & { output: StoredOutput | undefined };

/** The shortened form that is stored and shown. */
export interface ShownEnding {
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

export interface JudgedEndings {
  /** Null: the version that the candidate was made from is to be rehearsed first. */
  judgement: Judgement | null;
  recorded: ShownEnding;
  rehearsed: ShownEnding;
}

export function judgeEndings({ recorded, rehearsed, base }: EndingsTask): JudgedEndings {
  const [was, now] = [parseEnding(recorded), parseEnding(rehearsed)];
  return {
    judgement: judgeCase(was, now, base && parseEnding(base)),
    recorded: toShownEnding(was),
    rehearsed: toShownEnding(now),
  };
}

const parseEnding = ({ output, ...ending }: StoredEnding): Ending => ({
  ...ending,
  output: output && parseOutput(output),
});

export const toShownEnding = ({ status, error, errorCode, output }: Ending): ShownEnding => ({
  status: toApiStatus(status),
  error: error === null ? null : truncateText(error, ERROR_CHARS_MAX),
  error_code: errorCode,
  output: status === 'completed' ? formatJson(output, OUTPUT_CHARS_MAX) : null,
});
