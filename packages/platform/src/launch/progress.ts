/** Says what is going on, with the seconds since the command was given. */
export interface Progress {
  /** Begins a step: a line that is shown at once. */
  step(text: string): void;
  /** A message that the operator should read. */
  warn(text: string): void;
  seconds(): string;
}

/** @param startedAt epoch milliseconds; the installation before the launcher belongs to the same wait. */
export function createProgress(startedAt: number, write: (text: string) => void): Progress {
  const seconds = () => ((Date.now() - startedAt) / 1000).toFixed(1);
  return {
    step: (text) => write(`[${seconds().padStart(6)} s] ${text}\n`),
    warn: (text) => write(`[${seconds().padStart(6)} s] ! ${text}\n`),
    seconds,
  };
}
