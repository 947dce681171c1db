/** Describes a failed decision. `fetch` reports an unreachable server as a TypeError. */
export function describeDecisionError(error: unknown): string {
  if (error instanceof TypeError) return 'Gantry can’t be reached. Check your connection, then try again.';
  return error instanceof Error ? error.message : String(error);
}
