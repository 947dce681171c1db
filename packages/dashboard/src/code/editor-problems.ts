import { type Diagnostic, setDiagnostics } from '@codemirror/lint';
import type { EditorState, TransactionSpec } from '@codemirror/state';
import type { CodeProblem } from './code-problem';

/** Marks the problems in the text; those below its last line are marked there. */
export const buildProblemTransaction = (state: EditorState, problems: readonly CodeProblem[]): TransactionSpec =>
  setDiagnostics(
    state,
    problems.map((problem) => toDiagnostic(state, problem)),
  );

function toDiagnostic({ doc }: EditorState, { line, column, severity, message, hint }: CodeProblem): Diagnostic {
  const at = doc.line(Math.min(Math.max(line, 1), doc.lines));
  const text = at.text.length - at.text.trimStart().length;
  const start = column === undefined ? at.from + text : Math.min(at.from + column - 1, at.to);
  const to = column === undefined ? at.to : findWordEnd(at.text, start - at.from) + at.from;
  // An empty range has no width: at the end of a line the last character stands for it.
  const from = start === at.to && start > at.from ? start - 1 : start;
  return { from, to: Math.max(from, to), severity, message: hint ? `${message}: ${hint}` : message };
}

function findWordEnd(text: string, from: number): number {
  const word = /^(?:[\p{L}\p{N}_]+|.)/u.exec(text.slice(from, from + 200));
  return from + (word?.[0].length ?? 0);
}
