/** Differences of two texts by lines, with a little of what is around them. */
import { green, red, type Text, text, toText } from './text';

const CONTEXT_LINES = 3;
/** Lines of one side; larger files are shown by their size alone. */
const LINES_MAX = 2_000;

type Edit = { kind: ' ' | '+' | '-'; line: string };

/** @returns null where the texts are too long to compare by lines */
export function formatLineDiff(before: string, after: string): Text[] | null {
  const [old, current] = [splitLines(before), splitLines(after)];
  if (old.length > LINES_MAX || current.length > LINES_MAX) return null;
  const edits = compareLines(old, current);
  const isWithinContext = (index: number) =>
    edits.slice(Math.max(0, index - CONTEXT_LINES), index + CONTEXT_LINES + 1).some(({ kind }) => kind !== ' ');
  return edits.flatMap(({ kind, line }, index) => {
    if (!isWithinContext(index)) return isWithinContext(index - 1) ? [toText('  ...')] : [];
    if (kind === ' ') return [text`  ${line}`];
    return [kind === '+' ? green(`+ ${line}`) : red(`- ${line}`)];
  });
}

const splitLines = (value: string): string[] => (value ? value.replace(/\n$/, '').split('\n') : []);

/**
 * A shortest sequence of edits, from the longest common subsequence of what is left between equal beginnings and ends.
 */
function compareLines(before: string[], after: string[]): Edit[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  const shorter = Math.min(before.length, after.length) - start;
  while (end < shorter && before.at(-1 - end) === after.at(-1 - end)) end++;
  const toUnchanged = (line: string): Edit => ({ kind: ' ', line });
  return [
    ...before.slice(0, start).map(toUnchanged),
    ...diffChangedLines(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(toUnchanged),
  ];
}

function diffChangedLines(before: string[], after: string[]): Edit[] {
  const width = after.length + 1;
  // common[i * width + j]: lines in common of what follows i and j.
  const common = new Uint16Array((before.length + 1) * width);
  const getCommonLength = (i: number, j: number): number => common[i * width + j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      common[i * width + j] =
        before[i] === after[j]
          ? getCommonLength(i + 1, j + 1) + 1
          : Math.max(getCommonLength(i + 1, j), getCommonLength(i, j + 1));
    }
  }
  const edits: Edit[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      edits.push({ kind: ' ', line: before[i++] ?? '' });
      j++;
    } else if (j >= after.length || (i < before.length && getCommonLength(i + 1, j) >= getCommonLength(i, j + 1))) {
      edits.push({ kind: '-', line: before[i++] ?? '' });
    } else {
      edits.push({ kind: '+', line: after[j++] ?? '' });
    }
  }
  return edits;
}
