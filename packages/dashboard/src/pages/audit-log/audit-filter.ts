import { useSearchParams } from 'react-router';

const FILTER_NAMES = ['person', 'kind', 'from', 'to'] as const;

/** `from` and `to` are days as `2026-11-22`, in the member's own time zone; both are inclusive. */
export type AuditFilter = Record<(typeof FILTER_NAMES)[number], string>;

/** Keeps the filter in the URL. */
export function useAuditFilter() {
  const [search, setSearch] = useSearchParams();
  const filter = Object.fromEntries(FILTER_NAMES.map((name) => [name, search.get(name) ?? ''])) as AuditFilter;
  const updateFilter = (overrides: Partial<AuditFilter>) =>
    setSearch(
      Object.entries({ ...filter, ...overrides }).filter(([, value]) => value !== ''),
      { replace: true },
    );
  return {
    filter,
    isFiltered: FILTER_NAMES.some((name) => filter[name] !== ''),
    change: updateFilter,
    clear: () => setSearch({}),
  };
}

/** Converts a filter to the query of the API. */
export const toAuditQuery = ({ person, kind, from, to }: AuditFilter) => ({
  ...(person && { actor_id: person }),
  ...(kind && { resource_type: kind }),
  ...(parseDayStart(from, 0) && { since: parseDayStart(from, 0) }),
  ...(parseDayStart(to, 1) && { until: parseDayStart(to, 1) }),
});

/** @returns undefined for an invalid day */
function parseDayStart(day: string, addedDays: number): string | undefined {
  const at = new Date(`${day}T00:00`);
  if (Number.isNaN(at.getTime())) return undefined;
  at.setDate(at.getDate() + addedDays);
  return at.toISOString();
}
