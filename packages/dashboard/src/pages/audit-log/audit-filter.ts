import { useSearchParams } from 'react-router';

export interface AuditFilter {
  person: string;
  kind: string;
  /** Days as `2026-11-22`, in the member's own time zone; both are inclusive. */
  from: string;
  to: string;
}

const NAMES = ['person', 'kind', 'from', 'to'] as const;

/** Keeps the filter in the URL. */
export function useAuditFilter() {
  const [search, setSearch] = useSearchParams();
  const filter = Object.fromEntries(NAMES.map((name) => [name, search.get(name) ?? ''])) as unknown as AuditFilter;
  const change = (over: Partial<AuditFilter>) =>
    setSearch(
      Object.entries({ ...filter, ...over }).filter(([, value]) => value !== ''),
      { replace: true },
    );
  return { filter, isFiltered: NAMES.some((name) => filter[name] !== ''), change, clear: () => setSearch({}) };
}

/** Converts a filter to the query of the API. */
export const queryOf = ({ person, kind, from, to }: AuditFilter) => ({
  ...(person && { actor_id: person }),
  ...(kind && { resource_type: kind }),
  ...(dayStart(from, 0) && { since: dayStart(from, 0) }),
  ...(dayStart(to, 1) && { until: dayStart(to, 1) }),
});

/** @returns undefined for an invalid day */
function dayStart(day: string, after: number): string | undefined {
  const at = new Date(`${day}T00:00`);
  if (Number.isNaN(at.getTime())) return undefined;
  at.setDate(at.getDate() + after);
  return at.toISOString();
}
