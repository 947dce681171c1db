import type { LogLine } from './log-line';
import type { LogStore } from './log-store';

/**
 * Finds the lines that match, each looked at once however often the log grows.
 *
 * @returns their positions in the log, ascending; the same array grows
 */
export function createLineFilter(matches: (line: LogLine) => boolean): (store: LogStore) => readonly number[] {
  let positions: number[] = [];
  let checkedCount = 0;
  let dropped = 0;
  return (store) => {
    if (store.dropped() !== dropped) {
      const removedCount = store.dropped() - dropped;
      dropped = store.dropped();
      positions = positions.map((position) => position - removedCount).filter((position) => position >= 0);
      checkedCount = Math.max(0, checkedCount - removedCount);
    }
    for (; checkedCount < store.lines.length; checkedCount++) {
      const line = store.lines[checkedCount];
      if (line && matches(line)) positions.push(checkedCount);
    }
    return positions;
  };
}

/** Finds the first position that is not smaller; the length where all are. */
export function findInsertionIndex(positions: readonly number[], position: number): number {
  let low = 0;
  let high = positions.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((positions[middle] ?? 0) < position) low = middle + 1;
    else high = middle;
  }
  return low;
}
