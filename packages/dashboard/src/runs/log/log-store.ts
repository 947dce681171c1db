/**
 * The lines of a log. It grows outside of React: a state that is copied with each line would cost more the longer the log
 * is.
 */
import { oncePerFrame } from '../../ui/once-per-frame';
import type { LogLine } from './log-line';

export interface LogStore {
  /** Always the same array, growing at its end; its front goes where there are too many. */
  readonly lines: readonly LogLine[];
  /** Lines that went from the front. */
  dropped: () => number;
  append: (lines: LogLine[]) => void;
  /** Told once per frame, however much was appended. */
  subscribe: (listener: () => void) => () => void;
  /** Another one whenever there is something to draw. */
  version: () => number;
}

export const LINES_MAX = 500_000;
/** Taking lines from the front moves all others, so it is done seldom. */
const SPARE = 50_000;

export function createLogStore(initial: LogLine[] = [], linesMax = LINES_MAX, spare = SPARE): LogStore {
  const lines = [...initial];
  const listeners = new Set<() => void>();
  let dropped = 0;
  let version = 0;
  const tell = oncePerFrame(() => {
    version++;
    for (const listener of listeners) listener();
  });
  return {
    lines,
    dropped: () => dropped,
    append(added) {
      for (const line of added) lines.push(line);
      if (lines.length > linesMax + spare) {
        const surplus = lines.length - linesMax;
        lines.splice(0, surplus);
        dropped += surplus;
      }
      tell();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    version: () => version,
  };
}
