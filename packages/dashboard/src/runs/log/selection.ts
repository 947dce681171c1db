import type { LogLine } from './log-line';
import type { LogStore } from './log-store';

/**
 * Finds the lines that match, each looked at once however often the log grows.
 *
 * @returns their positions in the log, ascending; the same array grows
 */
export function createSelection(matches: (line: LogLine) => boolean): (store: LogStore) => readonly number[] {
  let positions: number[] = [];
  let lookedAt = 0;
  let dropped = 0;
  return (store) => {
    if (store.dropped() !== dropped) {
      const gone = store.dropped() - dropped;
      dropped = store.dropped();
      positions = positions.map((position) => position - gone).filter((position) => position >= 0);
      lookedAt = Math.max(0, lookedAt - gone);
    }
    for (; lookedAt < store.lines.length; lookedAt++) {
      const line = store.lines[lookedAt];
      if (line && matches(line)) positions.push(lookedAt);
    }
    return positions;
  };
}

/** Finds the first position that is not smaller; the length where all are. */
export function placeOf(positions: readonly number[], position: number): number {
  let low = 0;
  let high = positions.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((positions[middle] ?? 0) < position) low = middle + 1;
    else high = middle;
  }
  return low;
}
