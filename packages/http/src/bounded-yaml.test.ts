import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { InvalidYamlError, parseBoundedYaml } from './bounded-yaml';

const limits = { charsMax: 512 * 1024, tokensMax: 60_000, aliasesMax: 3 };
const parse = (text: string) => parseBoundedYaml(text, limits);
const getProblem = (text: string): string => {
  try {
    parse(text);
    return '';
  } catch (err) {
    expect(err).toBeInstanceOf(InvalidYamlError);
    return (err as Error).message;
  }
};

test.each<[string, unknown]>([
  ['', undefined],
  ['# only a comment\n', undefined],
  ['~', null],
  ['text', 'text'],
  [
    'a: 1\nb: [x, "y", {c: true}]\nd:\n  - e: |\n      two\n      lines\n',
    { a: 1, b: ['x', 'y', { c: true }], d: [{ e: 'two\nlines\n' }] },
  ],
  ['base: &base {a: 1}\ncopy: *base\n', { base: { a: 1 }, copy: { a: 1 } }],
  // YAML 1.2: a merge key is a key, yes is text.
  ['x: &x {a: 1}\n"<<": *x\nb: yes\n', { x: { a: 1 }, '<<': { a: 1 }, b: 'yes' }],
  ['text: "*not an alias"\nplain: a *b c\nblock: |\n  *x\n', { text: '*not an alias', plain: 'a *b c', block: '*x\n' }],
  ['---\na: 1\n...\n', { a: 1 }],
  [buildNestedYaml(60), expect.anything()],
])('%j is read', (text, value) => {
  expect(parse(text)).toEqual(value);
});

test.each([
  ['- '.repeat(3_000), /^line 1, column 1\d\d: it is nested deeper than 64 levels$/],
  ['['.repeat(3_000), /^line 1, column \d\d: it is nested deeper than 64 levels$/],
  ['{a: '.repeat(3_000), /nested deeper than 64 levels/],
  ['? '.repeat(3_000), /nested deeper than 64 levels/],
  [buildNestedYaml(70), /^line 6\d, column \d+: it is nested deeper/],
  [`${'? '.repeat(30)}x`, /^line 1, column \d+: a key must be text/],
  ['a: &a [1, 2]\nb: [*a, *a, *a, *a]', /^line 2, column 17: it has more than 3 aliases/],
  [`a: &a [${'1,'.repeat(9_000)}1]\nb: &b [*a, *a]\nc: [*b, *b]`, /more than/],
  ['a: &a [*a]', /^line 1, column 8: there is no anchor "a" before this alias/],
  ['a: *b', /no anchor "b"/],
  ['a: 1\nb: 2\na: 3', /^line 3, column 1: the key "a" appears twice/],
  ['a: [1, 2', /^line \d, column \d+: /],
  ['a: b: c', /^line 1, column \d+: /],
  ['a\n---\nb', /^line \d, column \d+: /],
  [']'.repeat(100_000), /^line 1, column 1: /],
  ['\n'.repeat(100_000), /^line \d+, column 1: it has more than 60000 tokens/],
  ['x'.repeat(600_000), /^it is longer than 524288 characters/],
])('oversized or invalid YAML is refused with its position (%#)', (text, message) => {
  expect(getProblem(text)).toMatch(message);
});

test('aliases can be ruled out', () => {
  expect(() => parseBoundedYaml('a: &a 1\nb: *a', { ...limits, aliasesMax: 0 })).toThrow(
    /^line 2, column 4: aliases are not allowed/,
  );
});

test('a map of many keys is parsed in linear time', () => {
  const keys = (count: number) => Array.from({ length: count }, (_, n) => `k${n}: 1\n`).join('');
  expect(Object.keys(parse(keys(8_000)) as object)).toHaveLength(8_000);
});

test.each(['- ', '[', '{a: ', '? ', 'a:\n '])(
  'a process that has done nothing else survives 3,000 times %j with little stack',
  (unit) => {
    const { status, stdout, stderr } = parseInFreshProcess(unit.repeat(3_000));
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^refused: /);
  },
);

/** The module as it is built. */
function parseInFreshProcess(text: string) {
  const file = path.resolve(__dirname, '../dist/bounded-yaml.js');
  const program = `
    const { parseBoundedYaml, InvalidYamlError } = require(${JSON.stringify(file)});
    try { parseBoundedYaml(${JSON.stringify(text)}, ${JSON.stringify(limits)}); console.log('read'); }
    catch (err) { console.log(err instanceof InvalidYamlError ? 'refused: ' + err.message : err); }`;
  return spawnSync(process.execPath, ['--stack-size=200', '-e', program], { encoding: 'utf8', timeout: 120_000 });
}

function buildNestedYaml(depth: number): string {
  return Array.from({ length: depth }, (_, level) => `${' '.repeat(level)}a:\n`).join('');
}
