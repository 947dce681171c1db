import { useCallback, useEffect, useRef, useState } from 'react';
import type { FileProblem } from '../code-problem';
import type { Files } from '../files';
import {
  buildInputCheck,
  type DeclaredInput,
  describeInputProblem,
  findParameterPosition,
  INPUT_CHECK_PATH,
} from './input-check';
import type { CheckedFile, Diagnostic, Pyright } from './pyright';

/** After the last keystroke. The check itself takes some 200 ms. */
const DEBOUNCE_MS = 100;
/** Limit over all files: more is data, and would take seconds to check. */
const CHARS_MAX = 2_000_000;

/** Rules whose violation fails at run time; the other rules can report correct code. */
const ERROR_RULES = new Set(['reportUndefinedVariable', 'reportCallIssue', 'reportArgumentType']);
const SEVERITY_ERROR = 1;
const SEVERITY_WARNING = 2;

interface CheckInput {
  files: Files;
  entrypoint: string;
  inputs: readonly DeclaredInput[];
}

interface TypeCheck {
  problems: FileProblem[];
  /** The checker starts, or some text is not checked yet. */
  isStale: boolean;
  /** Resolves once the checker has started; null where it does not run. A stable reference. */
  getPyright: () => Promise<Pyright | null>;
}

type Checker = { status: 'off' | 'starting' | 'failed' } | { status: 'running'; pyright: Pyright };

/**
 * Finds type errors in the Python files of a draft, shortly after each change. None where the browser can't check
 * them.
 */
export function useTypeCheck({ files, entrypoint, inputs }: CheckInput, isEnabled: boolean): TypeCheck {
  const { checker, checked, getPyright } = useChecker(entrypoint, isEnabled);
  const [expectedVersions, setExpectedVersions] = useState<ReadonlyMap<string, number>>(new Map());
  const pyright = checker.status === 'running' ? checker.pyright : undefined;
  useEffect(() => {
    if (!pyright) return;
    const check = () => setExpectedVersions(pyright.update(selectPythonSources({ files, entrypoint, inputs })));
    const timer = setTimeout(check, DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [pyright, files, entrypoint, inputs]);

  const isPending = [...expectedVersions].some(([path, version]) => (checked.get(path)?.version ?? 0) < version);
  return {
    problems: [...checked.values()]
      .filter(({ path }) => expectedVersions.has(path))
      .flatMap((file) => toProblems(file, { files, entrypoint, inputs })),
    getPyright,
    isStale: checker.status === 'starting' || (checker.status === 'running' && isPending),
  };
}

const NOT_STARTED = Promise.resolve(null);

/** Runs a checker for as long as the page is shown. */
function useChecker(entrypoint: string, isEnabled: boolean) {
  const [checker, setChecker] = useState<Checker>({ status: isEnabled ? 'starting' : 'off' });
  const [checked, setChecked] = useState<ReadonlyMap<string, CheckedFile>>(new Map());
  const checkerPromise = useRef<Promise<Pyright | null>>(NOT_STARTED);
  const folder = entrypoint.slice(0, Math.max(0, entrypoint.lastIndexOf('/')));
  useEffect(() => {
    if (!isEnabled) return;
    let pyright: Pyright | undefined;
    let isDisposed = false;
    // Code can be written and saved without it.
    const handleFailure = () => {
      if (!isDisposed) setChecker({ status: 'failed' });
    };
    setChecker({ status: 'starting' });
    const start = async () => {
      const { startPyright } = await import('./pyright');
      if (isDisposed) return null;
      pyright = startPyright({
        importRoots: folder ? [folder] : [],
        onChecked: (file) => setChecked((before) => new Map(before).set(file.path, file)),
        onFailure: handleFailure,
      });
      setChecker({ status: 'running', pyright });
      return pyright;
    };
    checkerPromise.current = start().catch(() => {
      handleFailure();
      return null;
    });
    return () => {
      isDisposed = true;
      checkerPromise.current = NOT_STARTED;
      pyright?.stop();
      setChecked(new Map());
    };
  }, [folder, isEnabled]);
  const getPyright = useCallback(() => checkerPromise.current, []);
  return { checker, checked, getPyright };
}

function selectPythonSources({ files, entrypoint, inputs }: CheckInput): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  let left = CHARS_MAX;
  for (const [path, content] of files) {
    if (!path.endsWith('.py') || !('text' in content) || content.text.length > left) continue;
    left -= content.text.length;
    texts.set(path, content.text);
  }
  if (texts.has(entrypoint)) texts.set(INPUT_CHECK_PATH, buildInputCheck(entrypoint, inputs));
  return texts;
}

function toProblems({ path, diagnostics }: CheckedFile, input: CheckInput): FileProblem[] {
  const problems = diagnostics.map((one) =>
    path === INPUT_CHECK_PATH ? toInputProblem(one, input) : toProblem(path, one),
  );
  return problems.filter((one) => one !== null);
}

function toProblem(file: string, { range, severity = SEVERITY_ERROR, code, message }: Diagnostic): FileProblem | null {
  // Hints dim names. Without a rule it is a syntax error, which the executor reports as its own Python sees it.
  if (severity > SEVERITY_WARNING || code === undefined) return null;
  const [first = message, reason] = message.split('\n');
  return {
    file,
    line: range.start.line + 1,
    column: range.start.character + 1,
    severity: ERROR_RULES.has(code) ? 'error' : 'warning',
    message: first,
    ...(reason && { hint: reason.trim() }),
  };
}

function toInputProblem(
  { range, code, message }: Diagnostic,
  { files, entrypoint, inputs }: CheckInput,
): FileProblem | null {
  const content = files.get(entrypoint);
  const problem = code === 'reportArgumentType' ? describeInputProblem(inputs, range.start.line, message) : null;
  if (!problem || !content || !('text' in content)) return null;
  const place = findParameterPosition(content.text, problem.name);
  return { file: entrypoint, ...place, severity: 'error', message: problem.message };
}
