import type { Check, CheckResult } from '../shell/api';

/** Labels of the kinds of checks in forms. */
export const CHECK_KIND_LABELS: Record<Check['kind'], string> = {
  equal: 'Is equal to',
  contains: 'Contains',
  schema: 'Matches a schema',
  judge: 'Model-graded',
  fails: 'The run fails',
};

const CHECK_RESULT_LABELS: Record<CheckResult['kind'], string> = {
  equal: 'Equal',
  contains: 'Contains',
  schema: 'Schema',
  judge: 'Model-graded',
  fails: 'Fails',
  max_duration: 'Time',
  max_cost: 'Cost',
};

export const getCheckResultLabel = ({ kind }: CheckResult): string => CHECK_RESULT_LABELS[kind];

const getPathLabel = (path: string | undefined): string => path || 'The output';

/** Describes a check in one line. */
export function describeCheck(check: Check): string {
  switch (check.kind) {
    case 'equal':
      return `${getPathLabel(check.path)} is ${formatShortValue(check.value)}${check.tolerance ? ` ± ${check.tolerance}` : ''}`;
    case 'contains':
      return `${getPathLabel(check.path)} contains ${formatShortValue(check.value)}`;
    case 'schema':
      return `${getPathLabel(check.path)} matches a schema`;
    case 'judge':
      return `Graded by a model: ${formatShortValue(check.instructions)}`;
    case 'fails':
      return check.error_contains ? `Fails with ${formatShortValue(check.error_contains)}` : 'Fails';
  }
}

const CHARS_MAX = 60;

function formatShortValue(value: unknown): string {
  const text = typeof value === 'string' ? `“${value}”` : JSON.stringify(value);
  return text.length > CHARS_MAX ? `${text.slice(0, CHARS_MAX)}…` : text;
}
