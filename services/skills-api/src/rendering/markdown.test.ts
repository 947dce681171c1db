import { isAllowedUrl, renderMarkdown } from './markdown';

const render = (text: string) => renderMarkdown(text).text;

test('a table keeps its alignment without inline styles', () => {
  const markup = render('| a | b |\n|--:|:-:|\n| 1 | 2 |');
  expect(markup).toContain('<th class="align-right">a</th>');
  expect(markup).toContain('<td class="align-center">2</td>');
  expect(markup).not.toContain('style=');
});

test('a fence in a known language is coloured, in an unknown one shown as it is', () => {
  expect(render('```python\nprint("x")\n```')).toContain('<span class="hljs-string">');
  expect(render('```klingon\n<b>&amp;\n```')).toContain('&lt;b&gt;&amp;amp;');
  expect(render('``` "><script>\nx\n```')).not.toContain('<script');
});

test('headings lie below the page’s title, and each can be linked to, also in other scripts and twice', () => {
  const markup = render('# One two\n\n## مرحبا\n\n# One two\n');
  expect(markup).toContain('<h2 id="h-one-two">One two</h2>');
  expect(markup).toContain('<h3 id="h-مرحبا">');
  expect(markup).toContain('<h2 id="h-one-two-1">');
});

test('a picture that stands in the text is shown; one from elsewhere becomes a link', () => {
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

test.each([
  [
    'a table of a thousand rows',
    `| a | b | c |\n|---|---|---|\n${'| one | two | three |\n'.repeat(1_000)}`,
    /<td>three<\/td>/,
  ],
  ['256 KB of one paragraph', 'word '.repeat(52_000), /word/],
  ['deep quotes', `${'>'.repeat(10_000)} x`, /blockquote/],
  ['deep lists', Array.from({ length: 500 }, (_, depth) => `${' '.repeat(depth * 2)}- x`).join('\n'), /<li>/],
  ['unclosed brackets', '['.repeat(50_000), /\[/],
  ['unclosed emphasis', '*a '.repeat(50_000), /a/],
  ['links in links', '[a]('.repeat(20_000), /a/],
  ['backticks', 'a `'.repeat(60_000), /<code>/],
  ['addresses', 'https://a.test/'.repeat(15_000), /a\.test/],
  ['a fence of 256 KB', `\`\`\`js\n${'let a = 1;\n'.repeat(22_000)}\`\`\``, /let a/],
  ['a hundred fences', '```ts\nconst a: string = "x";\n```\n'.repeat(5_000), /hljs/],
  ['ampersands', '&amp;'.repeat(50_000), /&amp;/],
])('%s is rendered in bounded time', (_what, text, expected) => {
  const began = performance.now();
  expect(expected.test(render(text.slice(0, 256 * 1024)))).toBe(true);
  // A quadratic step would take minutes: the bound is no measurement.
  expect(performance.now() - began).toBeLessThan(10_000);
});
