/** Named filters, stored in this browser for each workspace. */
import { useSyncExternalStore } from 'react';

export interface SavedFilter {
  name: string;
  /** The query string of the URL. */
  search: string;
}

const STORAGE_KEY = 'gantry-run-filters';
const SAVED_MAX = 50;

type FiltersByWorkspace = Record<string, SavedFilter[]>;

const NO_FILTERS: SavedFilter[] = [];
const listeners = new Set<() => void>();
let filtersByWorkspace: FiltersByWorkspace = readStorage();

function readStorage(): FiltersByWorkspace {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '{}');
    return typeof stored === 'object' && stored !== null ? (stored as FiltersByWorkspace) : {};
  } catch {
    return {};
  }
}

function storeFilters(workspaceId: string, filters: SavedFilter[]): void {
  filtersByWorkspace = { ...filtersByWorkspace, [workspaceId]: filters };
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(filtersByWorkspace));
  } catch {
    // If the browser denies storage, they are lost on reload.
  }
  for (const listener of listeners) listener();
}

/** Saves a filter, and replaces one of the same name. */
export function saveFilter(workspaceId: string, filter: SavedFilter): void {
  const others = (filtersByWorkspace[workspaceId] ?? NO_FILTERS).filter(({ name }) => name !== filter.name);
  storeFilters(workspaceId, [...others, filter].slice(-SAVED_MAX));
}

export function deleteFilter(workspaceId: string, name: string): void {
  storeFilters(
    workspaceId,
    (filtersByWorkspace[workspaceId] ?? NO_FILTERS).filter((filter) => filter.name !== name),
  );
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useSavedFilters = (workspaceId: string | undefined): SavedFilter[] =>
  useSyncExternalStore(subscribe, () => (workspaceId && filtersByWorkspace[workspaceId]) || NO_FILTERS);
