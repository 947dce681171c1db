/** The filter and order of the list of workers, which are kept in the URL. */
import type { WorkerItem } from '../../shell/api';

export const STATUS_LABELS = {
  '': 'Any status',
  attention: 'Needs attention',
  active: 'Active',
  paused: 'Paused',
  archived: 'Archived',
} as const;
export type Status = keyof typeof STATUS_LABELS;

/** Names of the sortable columns in the URL, and their headings. */
export const COLUMN_HEADERS = {
  name: 'Worker',
  health: 'Health',
  success: 'Success rate',
  next: 'Next run',
  owner: 'Owner',
};
export type SortableColumn = keyof typeof COLUMN_HEADERS;

export interface WorkerFilter {
  q: string;
  status: Status;
  tag: string;
  column: SortableColumn;
  descending: boolean;
}

const isStatus = (text: string): text is Status => Object.hasOwn(STATUS_LABELS, text);
const isColumn = (text: string): text is SortableColumn => Object.hasOwn(COLUMN_HEADERS, text);

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

const collator = new Intl.Collator(undefined, { numeric: true });

const HEALTH_RANKS: Record<WorkerItem['health'], number> = {
  needs_attention: 0,
  missing_secret: 1,
  healthy: 2,
  ready: 3,
};
/** Workers that are not active are sorted last. */
const INACTIVE_RANK = 4;

export const getHealthRank = ({ status, health }: WorkerItem): number =>
  status === 'active' ? HEALTH_RANKS[health] : INACTIVE_RANK;

/** Filters the workers, and sorts them by name. */
export const filterWorkers = (workers: WorkerItem[], filter: WorkerFilter): WorkerItem[] =>
  workers.filter((worker) => matchesFilter(worker, filter)).sort((a, b) => collator.compare(a.name, b.name));

export const listTags = (workers: WorkerItem[]): string[] =>
  [...new Set(workers.flatMap(({ tags }) => tags))].sort(collator.compare);
