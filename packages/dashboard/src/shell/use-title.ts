import { useEffect, useSyncExternalStore } from 'react';

/** A page above this one, where its name says more than the navigation does. */
export interface Ancestor {
  to: string;
  label: string;
}

interface PageTitle {
  title: string | undefined;
  ancestors: readonly Ancestor[];
}

let current: PageTitle = { title: undefined, ancestors: [] };
const listeners = new Set<() => void>();

function setPageTitle(next: PageTitle): void {
  current = next;
  document.title = next.title ? `${next.title} · Gantry` : 'Gantry';
  for (const listener of listeners) listener();
}

/**
 * Sets the title of the page, for the browser and the breadcrumbs. @param ancestors pages between the section and this
 * one
 */
export function useTitle(title: string | undefined, ancestors: readonly Ancestor[] = []): void {
  const trail = JSON.stringify(ancestors);
  useEffect(() => setPageTitle({ title, ancestors: JSON.parse(trail) }), [title, trail]);
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const usePageTitle = (): PageTitle => useSyncExternalStore(subscribe, () => current);
