/** The line in the worker's own files that raised an error. */
export interface Frame {
  path: string;
  line: number;
}

/** Linear: a path holds no quote. */
const FRAME_PATTERN = /File "([^"\n]{1,300})", line (\d{1,7})/g;

/** Finds the last frame, which is the innermost one in Python. */
export function findLastFrame(trace: string): Frame | null {
  const last = [...trace.matchAll(FRAME_PATTERN)].at(-1);
  return last?.[1] ? { path: last[1], line: Number(last[2]) } : null;
}

const CONTEXT_LINES = 4;

export function listLinesAround(content: string, line: number): { number: number; text: string }[] {
  const lines = content.split('\n');
  if (line < 1 || line > lines.length) return [];
  const from = Math.max(0, line - 1 - CONTEXT_LINES);
  return lines.slice(from, line + CONTEXT_LINES).map((text, index) => ({ number: from + index + 1, text }));
}
