/** The filter and order of the list of workers, which are kept in the URL. */
import type { WorkerItem } from '../../shell/api';

export const STATUSES = {
  '': 'Any status',
  attention: 'Needs attention',
  active: 'Active',
  paused: 'Paused',
  archived: 'Archived',
} as const;
export type Status = keyof typeof STATUSES;

export const COLUMNS = ['name', 'health', 'success', 'next', 'owner'] as const;
export type Column = (typeof COLUMNS)[number];

export interface WorkerFilter {
  q: string;
  status: Status;
  tag: string;
  column: Column;
  descending: boolean;
}

const isStatus = (text: string): text is Status => Object.hasOwn(STATUSES, text);
const isColumn = (text: string): text is Column => COLUMNS.some((column) => column === text);

export function parseWorkerFilter(search: URLSearchParams): WorkerFilter {
  const status = search.get('status') ?? '';
  const sort = search.get('sort') ?? '';
  const column = sort.replace('-', '');
  return {
    q: search.get('q') ?? '',
    status: isStatus(status) ? status : '',
    tag: search.get('tag') ?? '',
    column: isColumn(column) ? column : 'name',
    descending: sort.startsWith('-'),
  };
}

/** Converts a filter to URL parameters, without defaults. */
export function toSearchParams({ q, status, tag, column, descending }: WorkerFilter): URLSearchParams {
  const sort = `${descending ? '-' : ''}${column}`;
  const params = Object.entries({ q, status, tag, sort: sort === 'name' ? '' : sort });
  return new URLSearchParams(params.filter(([, value]) => value !== ''));
}

const needsAttention = ({ status, health }: WorkerItem): boolean =>
  status === 'active' && (health === 'needs_attention' || health === 'missing_secret');

function matchesFilter(worker: WorkerItem, { q, status, tag }: WorkerFilter): boolean {
  if (status === 'attention' ? !needsAttention(worker) : status !== '' && worker.status !== status) return false;
  if (tag !== '' && !worker.tags.includes(tag)) return false;
  const searchText = q.trim().toLowerCase();
  return [worker.name, worker.id, worker.description, ...worker.tags].some((text) =>
    text.toLowerCase().includes(searchText),
  );
}

/** Computes the share of completed runs among those that were not cancelled, 0 to 1; null without any. */
export function computeSuccessRate({ recent_runs = [] }: WorkerItem): number | null {
  const ended = recent_runs.filter(({ status }) => ['completed', 'failed', 'timed_out'].includes(status));
  return ended.length ? ended.filter(({ status }) => status === 'completed').length / ended.length : null;
}

const HEALTH_RANKS: Record<WorkerItem['health'], number> = {
  needs_attention: 0,
  missing_secret: 1,
  healthy: 2,
  ready: 3,
};
/** Workers that are not active are sorted last. */
const INACTIVE_RANK = 4;

type GetOwnerName = (worker: WorkerItem) => string;

function getSortKey(worker: WorkerItem, column: Column, getOwnerName: GetOwnerName): string | number | null {
  switch (column) {
    case 'name':
      return worker.name;
    case 'health':
      return worker.status === 'active' ? HEALTH_RANKS[worker.health] : INACTIVE_RANK;
    case 'success':
      return computeSuccessRate(worker);
    case 'next':
      return worker.next_run_at === null ? null : Date.parse(worker.next_run_at);
    case 'owner':
      return getOwnerName(worker);
  }
}

const collator = new Intl.Collator(undefined, { numeric: true });

/** Filters and sorts. Workers without a value in the sorted column come last, in either direction. */
export function filterWorkers(workers: WorkerItem[], filter: WorkerFilter, getOwnerName: GetOwnerName): WorkerItem[] {
  const { column, descending } = filter;
  const keys = new Map(workers.map((worker) => [worker, getSortKey(worker, column, getOwnerName)]));
  return workers
    .filter((worker) => matchesFilter(worker, filter))
    .sort((a, b) => {
      const [one, other] = [keys.get(a) ?? null, keys.get(b) ?? null];
      if (one === null || other === null) return Number(one === null) - Number(other === null);
      const order =
        typeof one === 'number' && typeof other === 'number' ? one - other : collator.compare(`${one}`, `${other}`);
      return (descending ? -order : order) || collator.compare(a.name, b.name);
    });
}

export const listTags = (workers: WorkerItem[]): string[] =>
  [...new Set(workers.flatMap(({ tags }) => tags))].sort(collator.compare);
