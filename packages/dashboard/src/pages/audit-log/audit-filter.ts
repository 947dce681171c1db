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
  const read = (name: keyof AuditFilter) => search.get(name) ?? '';
  const filter: AuditFilter = { person: read('person'), kind: read('kind'), from: read('from'), to: read('to') };
  const change = (overrides: Partial<AuditFilter>) =>
    setSearch(
      Object.entries({ ...filter, ...overrides }).filter(([, value]) => value !== ''),
      { replace: true },
    );
  return { filter, isFiltered: FILTER_NAMES.some((name) => filter[name] !== ''), change, clear: () => setSearch({}) };
}

/** Converts a filter to the query of the API. */
export const toAuditQuery = ({ person, kind, from, to }: AuditFilter) => ({
  ...(person && { actor_id: person }),
  ...(kind && { resource_type: kind }),
  ...(dayStart(from, 0) && { since: dayStart(from, 0) }),
  ...(dayStart(to, 1) && { until: dayStart(to, 1) }),
});

/** @returns undefined for an invalid day */
function dayStart(day: string, addedDays: number): string | undefined {
  const at = new Date(`${day}T00:00`);
  if (Number.isNaN(at.getTime())) return undefined;
  at.setDate(at.getDate() + addedDays);
  return at.toISOString();
}
