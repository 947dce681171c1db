import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { AxeResults } from 'axe-core';
import type { BrowserContextOptions, CDPSession, Page } from 'playwright-core';

/** Evaluated in the page as text: the page's CSP allows no scripts, and axe can't be loaded outside a browser. */
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
/** Set it to save screenshots of the pages. */
const SCREENSHOT_DIRECTORY = process.env.DASHBOARD_PICTURES;

export interface Appearance {
  name: string;
  colorScheme: 'light' | 'dark';
  viewport: { width: number; height: number };
  isPhone: boolean;
}

const LIGHT: Appearance = {
  name: 'light',
  colorScheme: 'light',
  viewport: { width: 1280, height: 720 },
  isPhone: false,
};
export const PHONE_APPEARANCE: Appearance = {
  ...LIGHT,
  name: 'phone',
  viewport: { width: 360, height: 740 },
  isPhone: true,
};

export const APPEARANCES: Appearance[] = [LIGHT, { ...LIGHT, name: 'dark', colorScheme: 'dark' }, PHONE_APPEARANCE];

/** The browser options of a phone. */
export const PHONE: BrowserContextOptions = { viewport: PHONE_APPEARANCE.viewport, isMobile: true, hasTouch: true };

/**
 * Expects that axe finds nothing on the page, and that nothing is wider than the screen.
 * The page is loaded once and emulates each appearance; before and afterwards it is a light desktop page.
 */
export async function checkPage(page: Page, screen: string, appearances = APPEARANCES): Promise<void> {
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(axe);
  const session = await getSession(page);
  let current = LIGHT;
  for (const appearance of appearances) {
    await emulateAppearance(page, session, appearance, current);
    await checkAppearance(page, screen, appearance);
    current = appearance;
  }
  await emulateAppearance(page, session, LIGHT, current);
}

/** One session for each open page: detaching it resets the screen size, and several would override each other. */
const sessions = new WeakMap<Page, CDPSession>();

async function getSession(page: Page): Promise<CDPSession> {
  const session = sessions.get(page) ?? (await page.context().newCDPSession(page));
  sessions.set(page, session);
  return session;
}

async function emulateAppearance(
  page: Page,
  session: CDPSession,
  appearance: Appearance,
  current: Appearance,
): Promise<void> {
  const { colorScheme, viewport, isPhone } = appearance;
  if (colorScheme !== current.colorScheme) await page.emulateMedia({ colorScheme });
  if (viewport !== current.viewport) {
    await session.send('Emulation.setDeviceMetricsOverride', { ...viewport, deviceScaleFactor: 1, mobile: isPhone });
    await session.send('Emulation.setTouchEmulationEnabled', { enabled: isPhone });
  }
  await page.evaluate(
    async (expected) => {
      const nextFrame = () => new Promise(requestAnimationFrame);
      const isEmulated = () =>
        document.documentElement.dataset.mantineColorScheme === expected.colorScheme &&
        matchMedia('(pointer: coarse)').matches === expected.isPhone &&
        matchMedia(`(width: ${expected.width}px)`).matches;
      while (!isEmulated()) await nextFrame();
      // Resize listeners render in the next frame, and the result is visible in the one after.
      await nextFrame();
      await nextFrame();
    },
    { colorScheme, isPhone, width: viewport.width },
  );
}

/** Captures the whole page as it is emulated: Playwright would first reset the size of the screen. */
async function captureFullPage(session: CDPSession): Promise<Buffer> {
  const { cssContentSize } = await session.send('Page.getLayoutMetrics');
  const clip = { ...cssContentSize, scale: 1 };
  const { data } = await session.send('Page.captureScreenshot', { captureBeyondViewport: true, clip });
  return Buffer.from(data, 'base64');
}

async function checkAppearance(page: Page, screen: string, appearance: Appearance): Promise<void> {
  if (SCREENSHOT_DIRECTORY) {
    mkdirSync(SCREENSHOT_DIRECTORY, { recursive: true });
    const file = path.join(SCREENSHOT_DIRECTORY, `${screen}-${appearance.name}.png`);
    writeFileSync(file, await captureFullPage(await getSession(page)));
  }
  // Dark mode differs only in its colours.
  const isDark = appearance.colorScheme === 'dark';
  const options = { resultTypes: ['violations'], preload: false, ...(isDark && { runOnly: ['color-contrast'] }) };
  const { violations }: AxeResults = await page.evaluate(`axe.run(${JSON.stringify(options)})`);
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => ({ id, html, failureSummary })),
  );
  expect({ screen, look: appearance.name, found }).toEqual({ screen, look: appearance.name, found: [] });
  expect({ screen, look: appearance.name, tooWide: await findOverflowingElements(page) }).toEqual({
    screen,
    look: appearance.name,
    tooWide: [],
  });
}

/** Finds the innermost elements that overflow the page horizontally, except inside scrolling containers. */
const findOverflowingElements = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const isClipped = (element: Element): boolean =>
      element.parentElement !== null &&
      (getComputedStyle(element.parentElement).overflowX !== 'visible' || isClipped(element.parentElement));
    const overflowing = [...document.querySelectorAll('main *')].filter(
      (element) => element.getBoundingClientRect().right > clientWidth && !isClipped(element),
    );
    const innermost = overflowing.filter(
      (element) => !overflowing.some((other) => other !== element && element.contains(other)),
    );
    return [
      `${scrollWidth} instead of ${clientWidth} px`,
      ...innermost.map(({ outerHTML }) => outerHTML.slice(0, 200)),
    ];
  });
