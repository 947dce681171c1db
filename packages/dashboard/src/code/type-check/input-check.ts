/** Checks the parameters of `run()` against the declared inputs, by a call that is type-checked but never executed. */

export interface DeclaredInput {
  name: string;
  /** Absent: `text`. */
  type?: string | undefined;
}

/** No file of a worker has this path: its name is no module that anything imports. */
export const INPUT_CHECK_PATH = '__gantry_inputs__.py';

/**
 * Python types by the type of an input. A number without decimals is given for `number`: `int` takes it, and `float`
 * too.
 */
const PYTHON_TYPES: Partial<Record<string, { type: string; words: string }>> = {
  text: { type: 'str', words: 'text' },
  textarea: { type: 'str', words: 'text' },
  url: { type: 'str', words: 'a URL string' },
  date: { type: 'str', words: 'a date string' },
  file: { type: 'str', words: 'a file path' },
  number: { type: 'int', words: 'a number' },
  integer: { type: 'int', words: 'a whole number' },
  boolean: { type: 'bool', words: 'a true/false value' },
};

/** Before the first argument; each argument has a line of its own. */
const HEAD_LINES = 3;

const filterIdentifierInputs = (inputs: readonly DeclaredInput[]) =>
  inputs.filter(({ name }) => /^[A-Za-z_]\w*$/.test(name));

export function buildInputCheck(entrypoint: string, inputs: readonly DeclaredInput[]): string {
  const module = entrypoint.slice(entrypoint.lastIndexOf('/') + 1).replace(/\.py$/, '');
  const names = filterIdentifierInputs(inputs);
  const parameters = names.map(({ name, type = 'text' }) => `${name}: ${PYTHON_TYPES[type]?.type ?? 'Any'}`);
  return [
    `from typing import Any; from ${module} import run`,
    `def check(${parameters.join(', ')}):`,
    '    run(',
    ...names.map(({ name }) => `        ${name}=${name},`),
    '    )',
  ].join('\n');
}

/**
 * @param line of a diagnostic in the source above, from 0
 * @returns the problem in words, with the name of the parameter; null where the line is no argument
 */
export function describeInputProblem(inputs: readonly DeclaredInput[], line: number, message: string) {
  const input = filterIdentifierInputs(inputs)[line - HEAD_LINES];
  const [, expected] = /parameter "\w+" of type "([^"\n]{1,200})"/.exec(message) ?? [];
  if (!input || expected === undefined) return null;
  const { type = 'text' } = input;
  const words = PYTHON_TYPES[type]?.words ?? `of type ${type}`;
  return { name: input.name, message: `The input ${input.name} is ${words}, but run() declares it as ${expected}` };
}

/** Finds the place where `run()` names a parameter, from 1; the first line of `run()` where it does not. */
export function findParameterPosition(source: string, name: string): { line: number; column: number } {
  const start = Math.max(0, source.search(/^(?:async\s+)?def\s+run\s*\(/m));
  // Linear: a name between two borders.
  const found = new RegExp(`\\b${name}\\b`).exec(source.slice(start));
  const before = source.slice(0, start + (found?.index ?? 0)).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
