import { ApiError } from '@gantry/sdk';
import type { InputItem } from '../shell/api';
import { describeError, isUnreachable } from '../shell/is-unreachable';

/** Problems by input name; those of no field, or of one that the form does not have, under the empty name. */
export type FieldProblems = ReadonlyMap<string, string>;

const toFormProblem = (problem: string): FieldProblems => new Map([['', problem]]);

/** `inputs.limit`, `/body/inputs/limit`, `scheduleInputs.limit` and `limit` all mean the field `limit`. */
export function toInputProblems(error: unknown, items: InputItem[]): FieldProblems {
  if (!(error instanceof ApiError) || isUnreachable(error)) return toFormProblem(describeError(error));
  const problems = new Map<string, string>();
  for (const { path, message } of error.fields) {
    const name = path.replace(/^.*\b(inputs|scheduleInputs)[./]/, '').split(/[./[]/)[0] ?? '';
    if (!problems.has(name) && items.some((item) => item.name === name)) problems.set(name, message);
  }
  return problems.size ? problems : toFormProblem(describeNextStep(error));
}

/** Error codes whose message already says what to do. */
const SELF_EXPLANATORY_CODES = new Set(['budget_exceeded', 'missing_context']);

function describeNextStep(error: ApiError): string {
  switch (error.status) {
    case 401:
      return 'Sign in, then try again.';
    case 409:
      return SELF_EXPLANATORY_CODES.has(error.code)
        ? error.message
        : `${error.message}. Resolve the issue, then try again.`;
    case 429:
      return 'Too many runs at once. Wait a minute, then try again.';
    case 503:
      return `${error.message}. No run was started. Try again in a moment.`;
    default:
      return error.message;
  }
}
