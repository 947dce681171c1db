/** Named filters, stored in this browser for each workspace. */
import { useSyncExternalStore } from 'react';

export interface SavedFilter {
  name: string;
  /** The query string of the URL. */
  search: string;
}

const KEY = 'gantry-run-filters';
const SAVED_MAX = 50;

type All = Record<string, SavedFilter[]>;

const NONE: SavedFilter[] = [];
const listeners = new Set<() => void>();
let all: All = read();

function read(): All {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    return typeof kept === 'object' && kept !== null ? (kept as All) : {};
  } catch {
    return {};
  }
}

function change(workspaceId: string, filters: SavedFilter[]): void {
  all = { ...all, [workspaceId]: filters };
  try {
    localStorage.setItem(KEY, JSON.stringify(all));
  } catch {
    // If the browser denies storage, they are lost on reload.
  }
  for (const listener of listeners) listener();
}

/** Saves a filter, and replaces one of the same name. */
export function saveFilter(workspaceId: string, filter: SavedFilter): void {
  const others = (all[workspaceId] ?? NONE).filter(({ name }) => name !== filter.name);
  change(workspaceId, [...others, filter].slice(-SAVED_MAX));
}

export function forgetFilter(workspaceId: string, name: string): void {
  change(
    workspaceId,
    (all[workspaceId] ?? NONE).filter((filter) => filter.name !== name),
  );
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useSavedFilters = (workspaceId: string | undefined): SavedFilter[] =>
  useSyncExternalStore(subscribe, () => (workspaceId && all[workspaceId]) || NONE);
