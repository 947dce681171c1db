/** A problem at a place in a text. Lines and columns count from 1. */
export interface CodeProblem {
  line: number;
  /** Absent: the whole line. */
  column?: number;
  severity: 'error' | 'warning' | 'info';
  message: string;
  hint?: string;
}

export type FileProblem = CodeProblem & { file: string };

/** A failure of code that ran. */
export type FailureLocation = FileProblem;

interface CodeFailure {
  message: string;
  type?: string | null;
  trace?: string | null;
}

/** Finds the last frame, which is the innermost one in Python; null where the code was not reached. */
export function findLastFrame(trace: string | null | undefined): { file: string; line: number } | null {
  const frames = [...(trace ?? '').matchAll(/File "([^"\n]{1,1024})", line (\d{1,7})/g)];
  const [, file, line] = frames.at(-1) ?? [];
  return file === undefined ? null : { file, line: Number(line) };
}

export function findFailureLocation({ message, type, trace }: CodeFailure): FailureLocation | null {
  const frame = findLastFrame(trace);
  const text = `The test failed here: ${type ? `${type}: ` : ''}${message}`.trim();
  return frame && { ...frame, severity: 'error', message: text };
}

/** Counts the problems of each file; those of a draft as a whole have none. */
export const countProblemsByFile = (problems: { file: string | null }[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const { file } of problems) if (file) counts.set(file, (counts.get(file) ?? 0) + 1);
  return counts;
};
