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

interface Failed {
  message: string;
  type?: string | null;
  trace?: string | null;
}

/** The last frame of the code itself; null where it did not come so far. */
export function failedPlace({ message, type, trace }: Failed): FailedPlace | null {
  const frames = [...(trace ?? '').matchAll(/File "([^"\n]{1,1024})", line (\d{1,7})/g)];
  const [, file, line] = frames.at(-1) ?? [];
  if (file === undefined) return null;
  const said = `The test failed here: ${type ?? ''} ${message}`.trim();
  return { file, line: Number(line), severity: 'error', message: said };
}
