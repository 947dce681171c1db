import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { AxeResults } from 'axe-core';
import type { BrowserContextOptions, CDPSession, Page } from 'playwright-core';

/** Evaluated in the page as text: the page's CSP allows no scripts, and axe can't be loaded outside a browser. */
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
/** Set it to save screenshots of the pages. */
const PICTURES = process.env.DASHBOARD_PICTURES;

export interface Look {
  name: string;
  colorScheme: 'light' | 'dark';
  viewport: { width: number; height: number };
  isPhone: boolean;
}

const light: Look = { name: 'light', colorScheme: 'light', viewport: { width: 1280, height: 720 }, isPhone: false };
export const PHONE_LOOK: Look = { ...light, name: 'phone', viewport: { width: 360, height: 740 }, isPhone: true };

export const LOOKS: Look[] = [light, { ...light, name: 'dark', colorScheme: 'dark' }, PHONE_LOOK];

/** The browser options of a phone. */
export const PHONE: BrowserContextOptions = { viewport: PHONE_LOOK.viewport, isMobile: true, hasTouch: true };

/**
 * Expects that axe finds nothing on the page, and that nothing is wider than the screen.
 * The page is loaded once and emulates each appearance; before and afterwards it is a light desktop page.
 */
export async function checkPage(page: Page, screen: string, looks = LOOKS): Promise<void> {
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(axe);
  const session = await getSession(page);
  let current = light;
  for (const look of looks) {
    await emulate(page, session, look, current);
    await checkLook(page, screen, look);
    current = look;
  }
  await emulate(page, session, light, current);
}

/** One session for each open page: detaching it resets the screen size, and several would override each other. */
const sessions = new WeakMap<Page, CDPSession>();

async function getSession(page: Page): Promise<CDPSession> {
  const session = sessions.get(page) ?? (await page.context().newCDPSession(page));
  sessions.set(page, session);
  return session;
}

async function emulate(page: Page, session: CDPSession, look: Look, current: Look): Promise<void> {
  const { colorScheme, viewport, isPhone } = look;
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

async function checkLook(page: Page, screen: string, look: Look): Promise<void> {
  if (PICTURES) {
    mkdirSync(PICTURES, { recursive: true });
    await page.screenshot({ path: path.join(PICTURES, `${screen}-${look.name}.png`), fullPage: true });
  }
  // Dark mode differs only in its colours.
  const isDark = look.colorScheme === 'dark';
  const options = { resultTypes: ['violations'], preload: false, ...(isDark && { runOnly: ['color-contrast'] }) };
  const { violations }: AxeResults = await page.evaluate(`axe.run(${JSON.stringify(options)})`);
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => ({ id, html, failureSummary })),
  );
  expect({ screen, look: look.name, found }).toEqual({ screen, look: look.name, found: [] });
  expect({ screen, look: look.name, tooWide: await findTooWide(page) }).toEqual({
    screen,
    look: look.name,
    tooWide: [],
  });
}

/** Finds the innermost elements that overflow the page horizontally, except inside scrolling containers. */
const findTooWide = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const isClipped = (element: Element): boolean =>
      element.parentElement !== null &&
      (getComputedStyle(element.parentElement).overflowX !== 'visible' || isClipped(element.parentElement));
    const wide = [...document.querySelectorAll('main *')].filter(
      (element) => element.getBoundingClientRect().right > clientWidth && !isClipped(element),
    );
    const innermost = wide.filter((element) => !wide.some((other) => other !== element && element.contains(other)));
    return [
      `${scrollWidth} instead of ${clientWidth} px`,
      ...innermost.map(({ outerHTML }) => outerHTML.slice(0, 200)),
    ];
  });
