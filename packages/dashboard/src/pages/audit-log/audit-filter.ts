import { useSearchParams } from 'react-router';

export interface AuditFilter {
  person: string;
  kind: string;
  /** Days as `2026-11-22`, in the person's own zone; both are part of what is shown. */
  from: string;
  to: string;
}

const NAMES = ['person', 'kind', 'from', 'to'] as const;

/** The filter that the address names. */
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

/** As the API takes them. */
export const queryOf = ({ person, kind, from, to }: AuditFilter) => ({
  ...(person && { actor_id: person }),
  ...(kind && { resource_type: kind }),
  ...(dayStart(from, 0) && { since: dayStart(from, 0) }),
  ...(dayStart(to, 1) && { until: dayStart(to, 1) }),
});

/** @param after days added @returns undefined for what is no day */
function dayStart(day: string, after: number): string | undefined {
  const at = new Date(`${day}T00:00`);
  if (Number.isNaN(at.getTime())) return undefined;
  at.setDate(at.getDate() + after);
  return at.toISOString();
}
