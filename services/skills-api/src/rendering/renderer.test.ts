import { captureLogs, waitUntil } from '@gantry/testing';
import { hostileMarkdown } from '../test/hostile-markdown';
import { createRenderCache } from './rendered-cache';
import { createRenderer, type RenderedMarkdown, type Renderer, type RendererLimits } from './renderer';

const openRenderers: Renderer[] = [];
afterEach(async () => {
  for (const renderer of openRenderers.splice(0)) await renderer.stop();
});
function createTestRenderer(limits: Partial<RendererLimits> = {}): Renderer {
  const renderer = createRenderer({ log: captureLogs().log, limits: { taskMs: 60_000, waitMs: 60_000, ...limits } });
  openRenderers.push(renderer);
  return renderer;
}

/** Half a second of work. */
const LONG = '*a_'.repeat(80_000);

test('the event loop is not blocked while a document is rendered', async () => {
  const { render } = createTestRenderer();
  await render('warm', 1);
  const order: string[] = [];
  const long = render(LONG, 1).then(() => order.push('document'));
  await new Promise((resolve) => setTimeout(resolve, 5)).then(() => order.push('timer'));
  await long;
  expect(order).toEqual(['timer', 'document']);
});

test('a document that takes too long is shown as plain text, and the next one is rendered', async () => {
  const { render } = createTestRenderer({ taskMs: 1_000 });
  const { plain, markup } = await render(`<b>${LONG.repeat(20)}`, 1);
  expect(plain).toBe('costly');
  expect(markup.text).toContain('&lt;b&gt;*a_*a_');
  const next = await waitUntil(async () => {
    const rendered = await render('*a*', 1);
    return rendered.plain === null && rendered;
  });
  expect(next.markup.text).toBe('<p><em>a</em></p>\n');
});

test('a document whose markup would be far larger than itself is shown as plain text', async () => {
  const { render } = createTestRenderer();
  const bomb = `[a]: /${'b'.repeat(100_000)}\n\n${'[a]'.repeat(50_000)}`;
  const { plain, markup } = await render(bomb, 1);
  expect([plain, markup.text.length < 2 * bomb.length]).toEqual(['costly', true]);
});

test('a document that waits too long is shown as plain text', async () => {
  const { render } = createTestRenderer({ waitMs: 20 });
  await waitUntil(async () => (await render('warm', 1)).plain === null);
  const first = render(LONG, 1);
  expect((await render('*a*', 1)).plain).toBe('busy');
  expect((await first).plain).toBeNull();
});

test('a rendering is cached and shared by concurrent requests; one that timed out is retried', async () => {
  let calls = 0;
  let plain: RenderedMarkdown['plain'] = null;
  let now = 0;
  const { render: real } = createTestRenderer();
  const slow = async (text: string, lowered: 0 | 1) => {
    calls++;
    return { ...(await real(text, lowered)), plain };
  };
  const render = createRenderCache({ render: slow }, () => now);
  await Promise.all([render('a', '*a*', 1), render('a', '*a*', 1)]);
  await render('a', '*a*', 1);
  expect(calls).toBe(1);
  plain = 'busy';
  await render('b', 'b', 1);
  await render('b', 'b', 1);
  expect(calls).toBe(3);
  plain = 'costly';
  await render('c', 'c', 1);
  await render('c', 'c', 1);
  expect(calls).toBe(4);
  now += 11 * 60_000;
  await render('c', 'c', 1);
  expect(calls).toBe(5);
});

test('every hostile document of full length gets a response', async () => {
  const { render } = createTestRenderer();
  for (const [what, text] of hostileMarkdown.filter((_, index) => index % 8 === 0)) {
    const { markup } = await render(text(250_000), 1);
    expect([what, markup.text.length > 0]).toEqual([what, true]);
  }
});
