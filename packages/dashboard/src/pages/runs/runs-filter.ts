/** The filter of the list of runs, which is kept in the URL. */
import type { AnyRunStatus } from '../../runs/run-status';
import type { TRIGGER_LABELS } from '../../runs/trigger-labels';

export type Trigger = keyof typeof TRIGGER_LABELS;
export type Status = Extract<
  AnyRunStatus,
  'queued' | 'running' | 'pending_approval' | 'completed' | 'failed' | 'timed_out' | 'cancelled' | 'rejected'
>;
export type Surface = 'worker' | 'automation';

export interface RunsFilter {
  /** Default: both. */
  surface?: Surface;
  /** Id of a worker; implies its surface. */
  worker?: string;
  /** Id of an automation; implies its surface. */
  automation?: string;
  status?: Status;
  trigger?: Trigger;
  within?: TimeWindow;
  /** Local dates; ignored if `within` is set. */
  from?: string;
  to?: string;
  tag?: string;
  q?: string;
}

const HOUR_MS = 3_600_000;
const TIME_WINDOWS_MS = {
  hour: HOUR_MS,
  day: 24 * HOUR_MS,
  week: 7 * 24 * HOUR_MS,
  month: 30 * 24 * HOUR_MS,
} as const;
export type TimeWindow = keyof typeof TIME_WINDOWS_MS;

export const STATUSES: Status[] = [
  ...(['running', 'queued', 'pending_approval', 'completed'] as const),
  ...(['failed', 'timed_out', 'cancelled', 'rejected'] as const),
];
export const TRIGGERS: Trigger[] = [
  ...(['api', 'schedule', 'webhook', 'event', 'call', 'replay'] as const),
  ...(['rehearsal', 'page', 'link'] as const),
];

const FILTER_NAMES = [
  'surface',
  'worker',
  'automation',
  'status',
  'trigger',
  'within',
  'from',
  'to',
  'tag',
  'q',
] as const;

const ALLOWED_VALUES: Partial<Record<keyof RunsFilter, readonly string[]>> = {
  surface: ['worker', 'automation'],
  status: STATUSES,
  trigger: TRIGGERS,
  within: Object.keys(TIME_WINDOWS_MS),
};

/** Parses the filter, and ignores invalid parts of an old or mistyped URL. */
export function parseRunsFilter(search: URLSearchParams): RunsFilter {
  const entries = FILTER_NAMES.flatMap((name) => {
    const value = search.get(name)?.trim();
    const isKnown = value && (ALLOWED_VALUES[name]?.includes(value) ?? true);
    const isDate = name !== 'from' && name !== 'to' ? true : /^\d{4}-\d\d-\d\d$/.test(value ?? '');
    return isKnown && isDate ? [[name, value]] : [];
  });
  return Object.fromEntries(entries);
}

export function toSearchParams(filter: RunsFilter): URLSearchParams {
  const search = new URLSearchParams();
  for (const name of FILTER_NAMES) if (filter[name]) search.set(name, filter[name]);
  return search;
}

export const hasFilters = (filter: RunsFilter): boolean => toSearchParams(filter).size > 0;

const DAY_MS = 24 * HOUR_MS;

/** @returns epoch milliseconds; `until` is excluded */
export function toTimeRange({ within, from, to }: RunsFilter, now: number): { since?: number; until?: number } {
  if (within) return { since: now - TIME_WINDOWS_MS[within] };
  return {
    ...(from && { since: new Date(`${from}T00:00`).getTime() }),
    ...(to && { until: new Date(`${to}T00:00`).getTime() + DAY_MS }),
  };
}
