/**
 * The runs of one surface that the list knows: its first page, read again whenever something changed, and older ones that
 * were read while scrolling.
 */
import type { Cursor, RunsPage } from './read-runs';
import type { RunRow } from './run-row';

export interface KnownRuns {
  rows: RunRow[];
  /** Null where the oldest is known. */
  next: Cursor | null;
}

/** The newest page again. Older ones stay, unless more has happened than a page holds. */
export function withFirst(known: KnownRuns | null, page: RunsPage): KnownRuns {
  if (known === null || page.next === null) return page;
  const fresh = new Set(page.rows.map(({ key }) => key));
  const meets = known.rows.some(({ key }) => fresh.has(key));
  const last = page.rows.at(-1);
  if (!meets || !last) return page;
  // A run that is newer than the page's end and not on it has gone, or no longer fits the filter.
  const older = known.rows.filter(
    (row) => !fresh.has(row.key) && row.createdAt <= last.createdAt && row.key !== last.key,
  );
  return { rows: [...page.rows, ...older], next: known.next };
}

export function withOlder(known: KnownRuns, page: RunsPage): KnownRuns {
  const have = new Set(known.rows.map(({ key }) => key));
  return { rows: [...known.rows, ...page.rows.filter(({ key }) => !have.has(key))], next: page.next };
}

/** Down to here everything of the surface is known. */
const knownDownTo = ({ rows, next }: KnownRuns): number =>
  next === null ? Number.NEGATIVE_INFINITY : (rows.at(-1)?.createdAt ?? Number.POSITIVE_INFINITY);

/**
 * Both surfaces' runs by time. What lies further down than one of them is known waits until that one is read on.
 *
 * @returns `readOn`: the one to read on; null where all is known
 */
export function merged(all: KnownRuns[]): { rows: RunRow[]; readOn: KnownRuns | null } {
  const floor = Math.max(Number.NEGATIVE_INFINITY, ...all.map(knownDownTo));
  const rows = all
    .flatMap((known) => known.rows)
    .filter(({ createdAt }) => createdAt >= floor)
    .sort((one, other) => other.createdAt - one.createdAt || (one.key < other.key ? 1 : -1));
  const readOn = all.find((known) => known.next !== null && knownDownTo(known) === floor) ?? null;
  return { rows, readOn };
}
