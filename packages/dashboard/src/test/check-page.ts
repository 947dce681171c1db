import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { AxeResults } from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';

/** Given to the page as text: the page's own policy lets no script in, and axe can't be loaded outside a browser. */
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
/** Set to look at the pages. */
const PICTURES = process.env.DASHBOARD_PICTURES;

export const LOOKS: [string, BrowserContextOptions][] = [
  ['light', {}],
  ['dark', { colorScheme: 'dark' }],
  ['phone', { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }],
];

/** Expects that axe finds nothing on the page, and that nothing is wider than the screen. */
export async function checkPage(page: Page, screen: string, look?: string): Promise<void> {
  if (PICTURES && look) {
    mkdirSync(PICTURES, { recursive: true });
    await page.screenshot({ path: path.join(PICTURES, `${screen}-${look}.png`), fullPage: true });
  }
  // In the dark only the colours differ.
  const isDark = await page.evaluate(() => document.documentElement.dataset.mantineColorScheme === 'dark');
  const options = { resultTypes: ['violations'], preload: false, ...(isDark && { runOnly: ['color-contrast'] }) };
  const { violations }: AxeResults = await page.evaluate(`${axe}; axe.run(${JSON.stringify(options)})`);
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => ({ id, html, failureSummary })),
  );
  expect({ screen, found }).toEqual({ screen, found: [] });
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect({ screen, overflow }).toEqual({ screen, overflow: 0 });
}
