/**
 * Stores the lines of a log. It grows outside of React: a state copied with each line would cost more the longer the
 * log is.
 */
import { createRedrawSignal, type RedrawSignal } from '../../ui/redraw-signal';
import type { LogLine } from './log-line';

export interface LogStore extends RedrawSignal {
  /** Always the same array, growing at its end; its front goes where there are too many. */
  readonly lines: readonly LogLine[];
  /** Number of lines removed from the front. */
  dropped: () => number;
  append: (lines: LogLine[]) => void;
}

export const LINES_MAX = 500_000;
/** Removing lines from the front moves all others, so it is done rarely. */
const SPARE = 50_000;

export function createLogStore(initial: LogLine[] = [], linesMax = LINES_MAX, spare = SPARE): LogStore {
  const lines = [...initial];
  let dropped = 0;
  const { redraws, notify: tell } = createRedrawSignal();
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
    ...redraws,
  };
}
