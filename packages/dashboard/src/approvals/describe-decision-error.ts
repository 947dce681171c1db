import { isUnreachable } from '../shell/is-unreachable';

/** Describes a failed decision. */
export function describeDecisionError(error: unknown): string {
  if (isUnreachable(error)) return 'Gantry can’t be reached. Check your connection, then try again.';
  return error instanceof Error ? error.message : String(error);
}
