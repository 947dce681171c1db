/** Checks of an example on a run that has ended. */
import type { Check } from './examples';
import type { LocalRun } from './local-run';

export interface CheckResult {
  /** Differences from what the checks expect, in words. */
  problems: string[];
  /** Checks that only the platform can make. */
  unchecked: string[];
}

export function checkRun(checks: Check[], run: LocalRun): CheckResult {
  const verdict: CheckResult = { problems: [], unchecked: [] };
  for (const check of checks) {
    if (check.kind === 'schema' || check.kind === 'judge') verdict.unchecked.push(check.kind);
    else verdict.problems.push(...findProblems(check, run));
  }
  return verdict;
}

function findProblems(check: Exclude<Check, { kind: 'schema' | 'judge' }>, run: LocalRun): string[] {
  const { status, error, output } = run;
  if (check.kind === 'fails') {
    if (status === 'completed') return ['the run completed, but was expected to fail'];
    const expectedText = check.error_contains;
    return expectedText === undefined || error?.includes(expectedText)
      ? []
      : [`the error is ${quote(error)}, which does not contain ${quote(expectedText)}`];
  }
  if (status !== 'completed') return [`the run ${status}${error ? `: ${error}` : ''}`];
  const part = resolvePointer(output, check.path ?? '');
  if (!part) return [`the output has no ${check.path}`];
  const where = check.path || 'the output';
  const problem =
    check.kind === 'equal'
      ? findDifference(check.value, part.value, where, check.tolerance ?? 0)
      : findMissingPart(check.value, part.value, where, check.ignore_case ?? false);
  return problem === null ? [] : [problem];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const quote = (value: unknown): string => {
  const json = JSON.stringify(value) ?? 'null';
  return json.length > 200 ? `${json.slice(0, 200)}…` : json;
};

/** RFC 6901. */
function resolvePointer(value: unknown, pointer: string): { value: unknown } | null {
  let part = value;
  for (const escaped of pointer.split('/').slice(1)) {
    const key = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof part !== 'object' || part === null || !Object.propertyIsEnumerable.call(part, key)) return null;
    part = (part as Record<string, unknown>)[key];
  }
  return { value: part };
}

/** @returns the first difference; null: there is none */
function findDifference(expected: unknown, actual: unknown, location: string, tolerance: number): string | null {
  if (typeof expected === 'number' && typeof actual === 'number') {
    return Math.abs(expected - actual) <= tolerance ? null : `${location} is ${actual}, not ${expected}`;
  }
  if (Array.isArray(expected) && Array.isArray(actual)) {
    if (expected.length !== actual.length) return `${location} has ${actual.length} items, not ${expected.length}`;
    return findFirstProblem(expected, (one, index) =>
      findDifference(one, actual[index], joinPath(location, index), tolerance),
    );
  }
  if (isObject(expected) && isObject(actual)) {
    const extra = Object.keys(actual).find((key) => !Object.hasOwn(expected, key));
    if (extra !== undefined) return `${joinPath(location, extra)} is ${quote(actual[extra])}, but was not expected`;
    return compareMembers(expected, actual, location, (one, other, place) =>
      findDifference(one, other, place, tolerance),
    );
  }
  return expected === actual ? null : `${location} is ${quote(actual)}, not ${quote(expected)}`;
}

function findMissingPart(expected: unknown, actual: unknown, location: string, ignoreCase: boolean): string | null {
  if (typeof actual === 'string') {
    const foldCase = (text: string) => (ignoreCase ? text.toLowerCase() : text);
    const isThere = typeof expected === 'string' && foldCase(actual).includes(foldCase(expected));
    return isThere ? null : `${location} is ${quote(actual)}, which does not contain ${quote(expected)}`;
  }
  if (Array.isArray(actual)) {
    const isThere = actual.some((item) => findDifference(expected, item, location, 0) === null);
    return isThere ? null : `${location} has no item equal to ${quote(expected)}`;
  }
  if (isObject(actual) && isObject(expected)) {
    return compareMembers(expected, actual, location, (one, other, place) =>
      isObject(one) && isObject(other)
        ? findMissingPart(one, other, place, ignoreCase)
        : findDifference(one, other, place, 0),
    );
  }
  return `${location} is ${quote(actual)}, which cannot contain ${quote(expected)}`;
}

const compareMembers = (
  expected: Record<string, unknown>,
  actual: Record<string, unknown>,
  where: string,
  compare: (expected: unknown, actual: unknown, where: string) => string | null,
): string | null =>
  findFirstProblem(Object.entries(expected), ([key, value]) => {
    const place = joinPath(where, key);
    return Object.hasOwn(actual, key) ? compare(value, actual[key], place) : `${place} is missing`;
  });

function findFirstProblem<Item>(items: Item[], find: (item: Item, index: number) => string | null): string | null {
  for (const [index, item] of items.entries()) {
    const found = find(item, index);
    if (found !== null) return found;
  }
  return null;
}

const joinPath = (location: string, key: string | number) => `${location === 'the output' ? '' : location}/${key}`;
