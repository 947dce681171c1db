/** Says what is going on, with the seconds since the command was given. */
export type Progress = ReturnType<typeof createProgress>;

/** @param startedAt epoch milliseconds; the installation before the launcher belongs to the same wait. */
export function createProgress(startedAt: number, write: (text: string) => void) {
  const seconds = () => ((Date.now() - startedAt) / 1000).toFixed(1);
  return {
    /** Begins a step: a line that is shown at once. */
    step: (text: string) => write(`[${seconds().padStart(6)} s] ${text}\n`),
    /** A message that the operator should read. */
    warn: (text: string) => write(`[${seconds().padStart(6)} s] ! ${text}\n`),
    seconds,
  };
}
