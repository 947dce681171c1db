/**
 * Stores the lines of a log. It grows outside of React: a state copied with each line would cost more the longer the
 * log is.
 */
import { createStoreSubscription, type StoreSubscription } from '../../ui/store-subscription';
import type { LogLine } from './log-line';

export interface LogStore extends StoreSubscription {
  /** Always the same array, growing at its end; its front goes where there are too many. */
  readonly lines: readonly LogLine[];
  /** Number of lines removed from the front. */
  dropped: () => number;
  append: (lines: LogLine[]) => void;
}

const LINES_MAX = 500_000;
/** Removing lines from the front moves all others, so it is done rarely. */
const TRIM_THRESHOLD = 50_000;

export function createLogStore(
  initial: LogLine[] = [],
  linesMax = LINES_MAX,
  trimThreshold = TRIM_THRESHOLD,
): LogStore {
  const lines = [...initial];
  let dropped = 0;
  const { redraws, notify: tell } = createStoreSubscription();
  return {
    lines,
    dropped: () => dropped,
    append(added) {
      for (const line of added) lines.push(line);
      if (lines.length > linesMax + trimThreshold) {
        const surplus = lines.length - linesMax;
        lines.splice(0, surplus);
        dropped += surplus;
      }
      tell();
    },
    ...redraws,
  };
}
