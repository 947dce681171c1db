/** No script in untrusted text runs: checked in a real browser, and in the markup itself. */
import { isToolUnavailable, openBrowser, setupResource } from '@gantry/testing';
import type { Page } from 'playwright-core';
import { testSkillsApi } from '../test/test-skills-api';
import { xssPayloads } from '../test/xss-payloads';

const inChromium = isToolUnavailable('chromium') ? test.skip : test;

let slugs: string[];

const api = testSkillsApi();
const ada = setupResource(() => api.person({ name: xssPayloads[6] }));
beforeAll(async () => {
  slugs = [];
  for (const payload of xssPayloads) {
    const quoted = JSON.stringify(payload.slice(0, 500));
    const body_md = `---\nname: ${quoted}\ndescription: ${quoted}\nlicense: ${quoted}\ncompatibility: ${quoted}\nmetadata:\n  tags: ${quoted}\n  ${quoted}: ${quoted}\n---\n\n${payload}\n\ntext ${payload} text\n`;
    const title = payload.replace(/\s+/g, ' ').slice(0, 190);
    const tags = [payload.slice(0, 50), payload.slice(-50)];
    const input = { title, body_md, tags, visibility: 'public' };
    slugs.push((await api.as(ada).post('/api/v1/skills').send(input).expect(201)).body.slug);
  }
});

test('there are at least a hundred', () => {
  expect(xssPayloads.length).toBeGreaterThanOrEqual(100);
});

test('none survives in the markup: only known tags, no handlers, no executable scheme', async () => {
  for (const [index, slug] of slugs.entries()) {
    const { text, headers } = await api.as(null).get(`/s/${slug}`).expect(200);
    const payload = xssPayloads[index];
    const tags = [...text.matchAll(/<\/?([a-zA-Z!?][^\s/>]*)([^>]*)>/g)];
    for (const [tag, name, attributes = ''] of tags) {
      expect([payload, name?.toLowerCase()]).toEqual([payload, expect.stringMatching(KNOWN)]);
      expect([
        payload,
        tag,
        /\s(on\w+|style|srcdoc|formaction)\s*=/i.test(attributes.replace(/"[^"]*"/g, '""')),
      ]).toEqual([payload, tag, false]);
      expect([
        payload,
        /(href|src)="\s*(javascript|vbscript|file|data:(?!image\/(png|gif|jpeg|webp);)|\/\/)/i.test(tag),
      ]).toEqual([payload, false]);
    }
    expect(text.match(/<script/gi)).toHaveLength(1);
    expect(headers['content-security-policy']).toMatch(/default-src 'none'.*script-src 'self';/);
    expect(headers['x-content-type-options']).toBe('nosniff');
  }
});

const KNOWN =
  /^(!doctype|html|head|meta|title|link|script|body|a|header|form|input|main|article|p|h[1-6]|time|ul|li|details|summary|pre|code|div|footer|em|strong|blockquote|table|thead|tbody|tr|th|td|span|ol|hr|br|s|img|mark)$/;

inChromium('none runs in Chromium, and no page asks another host for anything', async () => {
  const browser = openBrowser();
  const page = await browser.visit();
  const foreignRequests: string[] = [];
  const dialogs: string[] = [];
  await page.route('**/*', (route) => {
    const { origin } = new URL(route.request().url());
    if (origin === api.url || origin === 'null') return route.continue();
    foreignRequests.push(route.request().url());
    return route.abort();
  });
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    return dialog.dismiss();
  });
  for (const slug of slugs) await visit(page, `${api.url}/s/${slug}`);
  for (const path of [
    '/',
    `/?q=${encodeURIComponent('script alert')}`,
    `/?q=${encodeURIComponent(xssPayloads[0] as string)}`,
  ]) {
    await visit(page, api.url + path);
  }
  expect({ elsewhere: foreignRequests, dialogs }).toEqual({ elsewhere: [], dialogs: [] });
  await browser.closePages();
});

/** Triggers every interactive element. */
async function visit(page: Page, url: string): Promise<void> {
  await page.goto(url);
  const hits = await page.evaluate(() => {
    const view = globalThis as unknown as {
      hits?: number;
      document: { querySelectorAll(selector: string): Iterable<Touchable> };
    };
    for (const element of view.document.querySelectorAll('main *')) {
      element.dispatchEvent(new Event('mouseover'));
      element.dispatchEvent(new Event('focus'));
      if (element.matches('a[href^="#"], summary')) element.click();
    }
    return view.hits ?? 0;
  });
  expect([url, hits]).toEqual([url, 0]);
}

interface Touchable {
  dispatchEvent(event: Event): boolean;
  matches(selector: string): boolean;
  click(): void;
}
