import { isUnreachable, UNREACHABLE_MESSAGE } from '../shell/is-unreachable';

/** Describes a failed decision. */
export function describeDecisionError(error: unknown): string {
  if (isUnreachable(error)) return UNREACHABLE_MESSAGE;
  return error instanceof Error ? error.message : String(error);
}
