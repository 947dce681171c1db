import type { Check, CheckResult } from '../shell/api';

/** Labels of the kinds of checks in forms. */
export const KIND_WORDS: Record<Check['kind'], string> = {
  equal: 'Is equal to',
  contains: 'Contains',
  schema: 'Matches a schema',
  judge: 'A model judges it',
  fails: 'The run fails',
};

const RESULT_WORDS: Record<CheckResult['kind'], string> = {
  equal: 'Equal',
  contains: 'Contains',
  schema: 'Schema',
  judge: 'Judged',
  fails: 'Fails',
  max_duration: 'Time',
  max_cost: 'Cost',
};

export const resultWords = ({ kind }: CheckResult): string => RESULT_WORDS[kind];

const whole = (path: string | undefined): string => path || 'The output';

/** Describes a check in one line. */
export function inWords(check: Check): string {
  switch (check.kind) {
    case 'equal':
      return `${whole(check.path)} is ${shortened(check.value)}${check.tolerance ? ` ± ${check.tolerance}` : ''}`;
    case 'contains':
      return `${whole(check.path)} contains ${shortened(check.value)}`;
    case 'schema':
      return `${whole(check.path)} matches a schema`;
    case 'judge':
      return `A model finds: ${shortened(check.instructions)}`;
    case 'fails':
      return check.error_contains ? `Fails with ${shortened(check.error_contains)}` : 'Fails';
  }
}

const CHARS_MAX = 60;

function shortened(value: unknown): string {
  const text = typeof value === 'string' ? `“${value}”` : JSON.stringify(value);
  return text.length > CHARS_MAX ? `${text.slice(0, CHARS_MAX)}…` : text;
}
