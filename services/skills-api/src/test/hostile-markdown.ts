/** Texts that are made to cost: each construct of Markdown again and again, never closed, in each other. */

/** About `chars` characters of it. */
export type HostileText = (chars: number) => string;

const repeated =
  (unit: string): HostileText =>
  (chars) =>
    unit.repeat(Math.max(1, Math.floor(chars / unit.length)));
const before =
  (start: string, unit: string, end = ''): HostileText =>
  (chars) =>
    start + repeated(unit)(chars) + end;
/** Opened as often as it is closed. */
const inEachOther =
  (open: string, close: string): HostileText =>
  (chars) => {
    const depth = Math.floor(chars / (open.length + close.length));
    return `${open.repeat(depth)}a${close.repeat(depth)}`;
  };

const units = [
  ...[
    '# ',
    '# a\n',
    '[',
    ']',
    '[]',
    '![',
    '[a](',
    '[a](b)',
    '[a](<b',
    '[a](b "',
    '[a][b',
    '[a]',
    '![a]',
    '![a](',
    '[`',
  ],
  ...[
    '<',
    '<!--',
    '<?',
    '<![CDATA[',
    '<a ',
    '</a>',
    '<a href="',
    '<https:',
    '&',
    '&amp;',
    '&#',
    '&a',
    '\\',
    '\\*',
    '"',
  ],
  ...[
    '*',
    '*a ',
    'a* ',
    '*a_',
    '**a *b ',
    'a**b',
    '_',
    '*_',
    '***a** b* ',
    '~',
    '~~a ',
    '~~~',
    '`',
    'a `',
    '```\n',
    '```js\n',
  ],
  ...[
    '>',
    '> ',
    '- ',
    '- > ',
    '> - ',
    '1. ',
    '- a\n',
    '-\n\n',
    '> # a\n',
    '- a\n\n  b\n',
    '    a\n',
    '---\n',
    'a\n=\n',
    '\t',
    '-\t',
  ],
  ...[
    '|',
    '|a|b|\n|-|-|\n',
    'a\n',
    'a  \n',
    '\\\n',
    '[a]: b\n',
    '[a]: ',
    '[a\n',
    'https://',
    'https://a.test/',
    'http:',
    '//',
  ],
  ...['a@', 'mailto:a@', 'word ', 'é', 'a\u0300', '\u0001', '!', ':', 'http://a:', '```js\n"\n```\n', '~~~ ', '``` a'],
];

export const hostileMarkdown: [what: string, text: HostileText][] = [
  ...units.map((unit): [string, HostileText] => [JSON.stringify(unit), repeated(unit)]),
  ['a heading of spaces', before('#', ' ', 'x')],
  ['a heading closed by spaced hashes', before('# a', ' #')],
  ['a heading of dashes', before('# ', '-', 'a')],
  ['a heading of words and dashes', before('# ', '- a')],
  ['spaces', before('', ' ', 'x')],
  ['spaces in a line', before('a', ' ', 'b')],
  ['an information string of spaces', before('``` ', ' ', 'x')],
  ['a title of line ends', before('[a]: b "', '\n')],
  ['a title of lines', before('[a]: <b> "x', 'x\n')],
  ['a picture of 256 KB', before('![a](data:image/png;base64,', 'A', ')')],
  ['an address of parentheses', before('[a](', '(')],
  ['an address of percent signs', before('[a](', '%', ')')],
  ['an address of dots', before('http://a/', '.')],
  ['an address of brackets', before('http://a/', '[a')],
  ['a host of dashes', before('http://', 'a-')],
  ['lazy lines after a hundred quotes', before(`${'> '.repeat(100)}a\n`, 'a\n')],
  ['lazy lines after lists', before(`${'1. '.repeat(40)}a\n`, 'a\n')],
  ['rows of one cell under many columns', before(`${'|a'.repeat(300)}|\n${'|-'.repeat(300)}|\n`, '|\n')],
  ['rows with code', before('|a|b|\n|-|-|\n', '|`|`')],
  ['brackets in brackets', inEachOther('[', ']')],
  ['pictures in pictures', inEachOther('![', '](x)')],
  ['links around pictures', inEachOther('[![', '](x)](y)')],
  ['emphasis in emphasis', inEachOther('*a **b ', 'c** d*')],
  ['a reference in brackets', (chars) => `[a]: x\n\n${inEachOther('[', ']')(chars)}`],
  ['many references', (chars) => Array.from({ length: chars / 14 }, (_, n) => `[a${n}]: b\n`).join('')],
  ['runs of backticks, each longer', (chars) => growing('`', chars)],
  ['lists, each deeper', (chars) => deeper('- x', '  ', chars)],
  ['quotes, each deeper', (chars) => deeper('a\n', '>', chars)],
  [
    'a long address that many references use',
    (chars) => `[a]: /${'b'.repeat(chars / 2)}\n\n${'[a]'.repeat(chars / 6)}`,
  ],
  ...['js', 'csharp', 'markdown', 'java', 'ini', 'typescript', 'xml'].flatMap((language) =>
    ['a', 'a b ', '[a](', '<a b=', '"', 'a\n'].map((unit): [string, HostileText] => [
      `${language} of ${JSON.stringify(unit)}`,
      (chars) => `\`\`\`${language}\n${unit.repeat(9_990 / unit.length)}\n\`\`\`\n`.repeat(Math.ceil(chars / 10_000)),
    ]),
  ),
];

const root = (chars: number) => Array.from({ length: Math.floor(Math.sqrt(chars)) }, (_, n) => n);
const growing = (unit: string, chars: number) =>
  root(chars)
    .map((n) => unit.repeat(n))
    .join(' ');
const deeper = (line: string, indent: string, chars: number) =>
  root(chars)
    .map((n) => indent.repeat(n) + line)
    .join('\n');
