import type { Page } from 'playwright-core';

export const getCodeEditor = (page: Page, file: string) => page.getByRole('textbox', { name: `Code in ${file}` });

/** Replaces the text of a file in the editor. */
export async function rewriteFile(page: Page, file: string, text: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Files' }).getByRole('button').filter({ hasText: file }).click();
  await getCodeEditor(page, file).click();
  await page.keyboard.press('Control+a');
  // In the place of coloured text, the browser would insert text with an inline style.
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(text);
}
