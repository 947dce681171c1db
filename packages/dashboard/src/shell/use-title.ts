import { useEffect, useSyncExternalStore } from 'react';

/** A page above this one, where its name says more than the navigation does. */
export interface Ancestor {
  to: string;
  label: string;
}

interface Place {
  title: string | undefined;
  above: readonly Ancestor[];
}

let place: Place = { title: undefined, above: [] };
const listeners = new Set<() => void>();

function change(next: Place): void {
  place = next;
  document.title = next.title ? `${next.title} · Gantry` : 'Gantry';
  for (const listener of listeners) listener();
}

/**
 * Sets the title of the page, for the browser and the breadcrumbs. @param above pages between the section and this
 * one
 */
export function useTitle(title: string | undefined, above: readonly Ancestor[] = []): void {
  const trail = JSON.stringify(above);
  useEffect(() => change({ title, above: JSON.parse(trail) }), [title, trail]);
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const usePlace = (): Place => useSyncExternalStore(subscribe, () => place);
