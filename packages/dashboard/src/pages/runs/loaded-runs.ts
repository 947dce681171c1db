/**
 * The loaded runs of one surface: its first page, which is refetched on changes, and older ones that were loaded by
 * scrolling.
 */
import type { RunsPage } from './load-runs';
import type { RunRow } from './run-row';

/** Merges the refetched first page. Older runs stay, unless there are more new ones than fit a page. */
export function mergeFirstPage(loaded: RunsPage | null, page: RunsPage): RunsPage {
  if (loaded === null || page.next === null) return page;
  const freshKeys = new Set(page.rows.map(({ key }) => key));
  const overlaps = loaded.rows.some(({ key }) => freshKeys.has(key));
  const last = page.rows.at(-1);
  if (!overlaps || !last) return page;
  // A run that is newer than the page's last one but not on it was deleted, or no longer matches the filter.
  const older = loaded.rows.filter(
    (row) => !freshKeys.has(row.key) && row.createdAt <= last.createdAt && row.key !== last.key,
  );
  return { rows: [...page.rows, ...older], next: loaded.next };
}

export function appendOlderPage(loaded: RunsPage, page: RunsPage): RunsPage {
  const loadedKeys = new Set(loaded.rows.map(({ key }) => key));
  return { rows: [...loaded.rows, ...page.rows.filter(({ key }) => !loadedKeys.has(key))], next: page.next };
}

/** Returns the time down to which all runs of the surface are loaded. */
const getOldestLoadedTime = ({ rows, next }: RunsPage): number =>
  next === null ? Number.NEGATIVE_INFINITY : (rows.at(-1)?.createdAt ?? Number.POSITIVE_INFINITY);

/**
 * Merges both surfaces' runs by time. Runs older than the loaded part of either surface wait for its next page.
 *
 * @returns `nextToLoad`: the surface whose next page is needed; null once all is loaded
 */
export function mergeSurfaces(all: RunsPage[]): { rows: RunRow[]; nextToLoad: RunsPage | null } {
  const floor = Math.max(Number.NEGATIVE_INFINITY, ...all.map(getOldestLoadedTime));
  const rows = all
    .flatMap((known) => known.rows)
    .filter(({ createdAt }) => createdAt >= floor)
    .sort((one, other) => other.createdAt - one.createdAt || (one.key < other.key ? 1 : -1));
  const nextToLoad = all.find((known) => known.next !== null && getOldestLoadedTime(known) === floor) ?? null;
  return { rows, nextToLoad };
}
