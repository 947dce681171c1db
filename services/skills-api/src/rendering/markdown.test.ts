import { hostileMarkdown } from '../test/hostile-markdown';
import { isAllowedUrl, MarkupLimitError, renderMarkdown } from './markdown';

const render = (text: string) => renderMarkdown(text).text;

test('a table keeps its alignment without inline styles', () => {
  const markup = render('| a | b |\n|--:|:-:|\n| 1 | 2 |');
  expect(markup).toContain('<th class="align-right">a</th>');
  expect(markup).toContain('<td class="align-center">2</td>');
  expect(markup).not.toContain('style=');
});

test('a fence in a known language is highlighted, in an unknown one shown as it is', () => {
  expect(render('```python\nprint("x")\n```')).toContain('<span class="hljs-string">');
  expect(render('```klingon\n<b>&amp;\n```')).toContain('&lt;b&gt;&amp;amp;');
  expect(render('``` "><script>\nx\n```')).not.toContain('<script');
});

test('headings are below the page’s title, and each can be linked to, also in other scripts and with repeated texts', () => {
  const markup = render('# One two\n\n## مرحبا\n\n# One two\n');
  expect(markup).toContain('<h2 id="h-one-two">One two</h2>');
  expect(markup).toContain('<h3 id="h-مرحبا">');
  expect(markup).toContain('<h2 id="h-one-two-1">');
});

test('an embedded picture is shown; one from elsewhere becomes a link', () => {
  expect(render('![dot](data:image/png;base64,iVBORw0KGgo=)')).toContain(
    '<img src="data:image/png;base64,iVBORw0KGgo=" alt="dot"',
  );
  expect(render('![chart](https://other.test/a.png)')).toContain(
    '<a href="https://other.test/a.png" rel="nofollow noopener noreferrer ugc">chart (image)</a>',
  );
});

test.each([
  ['https://a.test', true],
  ['mailto:a@b.test', true],
  ['#h-here', true],
  ['/s/other-skill', true],
  ['javascript:x', false],
  ['java\nscript:x', false],
  ['\u0001javascript:x', false],
  ['//other.test', false],
  ['\\\\other.test', false],
  ['data:text/html,x', false],
  ['data:image/svg+xml;base64,AAAA', false],
])('an address like %j: %s', (url, allowed) => {
  expect(isAllowedUrl(url)).toBe(allowed);
});

test('a document of ordinary constructs is rendered completely', () => {
  const table = `| a | b | c |\n|---|---|---|\n${'| one | two | three |\n'.repeat(1_000)}`;
  expect(render(table).match(/<td>three<\/td>/g)).toHaveLength(1_000);
  const lists = Array.from({ length: 15 }, (_, depth) => `${'  '.repeat(depth)}- x`).join('\n');
  expect(render(lists).match(/<li>/g)).toHaveLength(15);
  const fences = '```ts\nconst a: string = "x";\n```\n'.repeat(100);
  expect(render(fences).match(/<pre /g)).toHaveLength(100);
});

test.each(hostileMarkdown)('the work for %s grows linearly with the text', (_what, text) => {
  // Retried, because the machine may have been busy; a quadratic algorithm fails every time.
  const ratios: number[] = [];
  do {
    const small = measureWork(text(16 * 1024));
    const large = measureWork(text(64 * 1024));
    ratios.push(large < 30 ? 0 : large / Math.max(small, 1));
  } while ((ratios.at(-1) ?? 0) > RATIO_MAX && ratios.length < 5);
  expect(Math.min(...ratios)).toBeLessThan(RATIO_MAX);
});

/** For four times the text: a quadratic algorithm would take 16. */
const RATIO_MAX = 9;

/** CPU milliseconds of this process, so that other processes hardly matter. A refusal counts as work too. */
function measureWork(text: string): number {
  const before = process.cpuUsage();
  try {
    render(text);
  } catch (err) {
    if (!(err instanceof MarkupLimitError)) throw err;
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
