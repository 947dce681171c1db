/** Texts that are made to cost: each construct of Markdown again and again, never closed, in each other. */

/** About `chars` characters of it. */
export type HostileText = (chars: number) => string;

const repeatText =
  (unit: string): HostileText =>
  (chars) =>
    unit.repeat(Math.max(1, Math.floor(chars / unit.length)));
const prefixText =
  (start: string, unit: string, end = ''): HostileText =>
  (chars) =>
    start + repeatText(unit)(chars) + end;
/** Opened as often as it is closed. */
const nestText =
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
  ...units.map((unit): [string, HostileText] => [JSON.stringify(unit), repeatText(unit)]),
  ['a heading of spaces', prefixText('#', ' ', 'x')],
  ['a heading closed by spaced hashes', prefixText('# a', ' #')],
  ['a heading of dashes', prefixText('# ', '-', 'a')],
  ['a heading of words and dashes', prefixText('# ', '- a')],
  ['spaces', prefixText('', ' ', 'x')],
  ['spaces in a line', prefixText('a', ' ', 'b')],
  ['an information string of spaces', prefixText('``` ', ' ', 'x')],
  ['a title of line ends', prefixText('[a]: b "', '\n')],
  ['a title of lines', prefixText('[a]: <b> "x', 'x\n')],
  ['a picture of 256 KB', prefixText('![a](data:image/png;base64,', 'A', ')')],
  ['an address of parentheses', prefixText('[a](', '(')],
  ['an address of percent signs', prefixText('[a](', '%', ')')],
  ['an address of dots', prefixText('http://a/', '.')],
  ['an address of brackets', prefixText('http://a/', '[a')],
  ['a host of dashes', prefixText('http://', 'a-')],
  ['lazy lines after a hundred quotes', prefixText(`${'> '.repeat(100)}a\n`, 'a\n')],
  ['lazy lines after lists', prefixText(`${'1. '.repeat(40)}a\n`, 'a\n')],
  ['rows of one cell under many columns', prefixText(`${'|a'.repeat(300)}|\n${'|-'.repeat(300)}|\n`, '|\n')],
  ['rows with code', prefixText('|a|b|\n|-|-|\n', '|`|`')],
  ['brackets in brackets', nestText('[', ']')],
  ['pictures in pictures', nestText('![', '](x)')],
  ['links around pictures', nestText('[![', '](x)](y)')],
  ['emphasis in emphasis', nestText('*a **b ', 'c** d*')],
  ['a reference in brackets', (chars) => `[a]: x\n\n${nestText('[', ']')(chars)}`],
  ['many references', (chars) => Array.from({ length: chars / 14 }, (_, n) => `[a${n}]: b\n`).join('')],
  ['runs of backticks, each longer', (chars) => growRuns('`', chars)],
  ['lists, each deeper', (chars) => deepenLines('- x', '  ', chars)],
  ['quotes, each deeper', (chars) => deepenLines('a\n', '>', chars)],
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

const listToRoot = (chars: number) => Array.from({ length: Math.floor(Math.sqrt(chars)) }, (_, n) => n);
const growRuns = (unit: string, chars: number) =>
  listToRoot(chars)
    .map((n) => unit.repeat(n))
    .join(' ');
const deepenLines = (line: string, indent: string, chars: number) =>
  listToRoot(chars)
    .map((n) => indent.repeat(n) + line)
    .join('\n');
