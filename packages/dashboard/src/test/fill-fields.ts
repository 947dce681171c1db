import type { Locator, Page } from 'playwright-core';

/** Fills fields one after the other. @param values by label */
export async function fillFields(place: Page | Locator, values: Record<string, string>): Promise<void> {
  for (const [label, value] of Object.entries(values)) await place.getByLabel(label).fill(value);
}
