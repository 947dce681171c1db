import { useSearchParams } from 'react-router';

export interface AuditFilter {
  person: string;
  kind: string;
  /** Days as `2026-11-22`, in the member's own time zone; both are inclusive. */
  from: string;
  to: string;
}

const FILTER_NAMES = ['person', 'kind', 'from', 'to'] as const;

/** Keeps the filter in the URL. */
export function useAuditFilter() {
  const [search, setSearch] = useSearchParams();
  const getFilterParam = (name: keyof AuditFilter) => search.get(name) ?? '';
  const filter: AuditFilter = {
    person: getFilterParam('person'),
    kind: getFilterParam('kind'),
    from: getFilterParam('from'),
    to: getFilterParam('to'),
  };
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
