import type { Locator, Page } from 'playwright-core';

export const getSaveBar = (page: Page): Locator => page.getByRole('region', { name: 'Unsaved changes' });

/** Saves all changed forms of a worker's settings. */
export const saveSettings = (page: Page): Promise<void> =>
  getSaveBar(page).getByRole('button', { name: 'Save' }).click();
