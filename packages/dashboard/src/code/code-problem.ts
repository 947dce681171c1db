/** Something that is wrong with a text, at a place in it. Lines and columns count from 1. */
export interface CodeProblem {
  line: number;
  /** Absent: the whole line. */
  column?: number;
  severity: 'error' | 'warning' | 'info';
  message: string;
  hint?: string;
}

/** A failure of code that ran, with its file. */
export type FailedPlace = CodeProblem & { file: string };
