import type { BrowserContextOptions, Page } from 'playwright-core';

export interface VisitOptions extends BrowserContextOptions {
  /** Whether editors check types, which takes seconds of processor time on each page that has one. */
  checksTypes?: boolean;
}

/** Opens a page, by default in a browser that does not run the type checker. */
export async function openPage(
  visit: (options: BrowserContextOptions) => Promise<Page>,
  { checksTypes = false, ...options }: VisitOptions = {},
): Promise<Page> {
  const page = await visit(options);
  if (!checksTypes) await page.addInitScript(() => Reflect.deleteProperty(window, 'Worker'));
  return page;
}
