import type { Locator, Page } from 'playwright-core';

/** Fills fields one after the other. @param values by label */
export async function fillFields(place: Page | Locator, values: Record<string, string>): Promise<void> {
  for (const [label, value] of Object.entries(values)) await place.getByLabel(label).fill(value);
}

/** Fills the fields of a form, clicks its button, and waits for the text that reports the result. */
export async function submitFields(
  place: Page | Locator,
  values: Record<string, string>,
  button: string,
  result: string | RegExp,
): Promise<void> {
  await fillFields(place, values);
  await place.getByRole('button', { name: button }).click();
  await place.getByText(result).waitFor();
}
