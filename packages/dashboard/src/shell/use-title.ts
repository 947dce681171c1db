import { useEffect } from 'react';
import { createStore } from '../ui/store';

/** A page above this one, where its name says more than the navigation does. */
interface Ancestor {
  to: string;
  label: string;
}

interface PageTitle {
  title: string | undefined;
  ancestors: readonly Ancestor[];
}

const pageTitle = createStore<PageTitle>({ title: undefined, ancestors: [] });

function setPageTitle(next: PageTitle): void {
  document.title = next.title ? `${next.title} · Gantry` : 'Gantry';
  pageTitle.set(next);
}

/**
 * Sets the title of the page, for the browser and the breadcrumbs. @param ancestors pages between the section and this
 * one
 */
export function useTitle(title: string | undefined, ancestors: readonly Ancestor[] = []): void {
  const trail = JSON.stringify(ancestors);
  useEffect(() => setPageTitle({ title, ancestors: JSON.parse(trail) }), [title, trail]);
}

export const usePageTitle = pageTitle.useValue;
