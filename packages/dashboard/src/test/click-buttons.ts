import type { Locator, Page } from 'playwright-core';

/** Clicks buttons one after the other, such as one that asks for a confirmation and the one that confirms. */
export async function clickButtons(place: Page | Locator, ...names: string[]): Promise<void> {
  for (const name of names) await place.getByRole('button', { name }).click();
}
