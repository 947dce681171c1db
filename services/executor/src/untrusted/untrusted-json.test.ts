import {
  CONTAINERS_MAX,
  canExceedSize,
  DEPTH_MAX,
  InvalidJsonError,
  NAMES_MAX,
  parseUntrusted,
} from './untrusted-json';

const parse = (text: string) => parseUntrusted(Buffer.from(text));
const buildNested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
function findProblem(text: string): string {
  try {
    parse(text);
  } catch (err) {
    if (err instanceof InvalidJsonError) return err.problem;
    throw err;
  }
  return 'none';
}

test.each([
  '{"a": [1, -2.5e3, true, false, null, "x", {}], "é\\u00e9": "\\"[{\\\\"}',
  '"[[[["',
  '0',
  ' [ ] ',
  buildNested(DEPTH_MAX),
  `["${'['.repeat(100)}", "${'\\"['.repeat(100)}"]`,
  '[1e308, 1E-400, 0.1e1]',
])('%j is parsed like JSON.parse', (text) => {
  expect(parse(text)).toEqual(JSON.parse(text));
});

test.each([
  [buildNested(DEPTH_MAX + 1), 'too_deep'],
  ['{"a":'.repeat(20_000), 'too_deep'],
  [`["\\\\", ${buildNested(DEPTH_MAX)}]`, 'too_deep'],
  [`{${Array.from({ length: NAMES_MAX + 1 }, (_, n) => `"${n}":1`)}}`, 'too_large'],
  [`[${Array(CONTAINERS_MAX).fill('{}')}]`, 'too_large'],
  ['1e309', 'number'],
  ['{"a": [-1E999]}', 'number'],
  [`[${'9'.repeat(310)}]`, 'number'],
  ['', 'malformed'],
  ['{"a"', 'malformed'],
  ['"unended', 'malformed'],
  ['"ends in \\', 'malformed'],
  ['[1]]', 'malformed'],
])('a text like %.40s is rejected before any recursion', (text, problem) => {
  expect(findProblem(text)).toBe(problem);
});

test.each(['1e20', '[1e20,1e20]', '{"a":1E20}', '[1E+5,0.1,12345678901234567890,1e-7,-0.00000012345]'])(
  'no number grows beyond GROWTH_MAX: %s',
  (text) => {
    const written = JSON.stringify(parse(text)).length;
    expect(canExceedSize(text.length, written - 1)).toBe(true);
  },
);

test('invalid UTF-8 grows by no more than GROWTH_MAX', () => {
  const text = Buffer.concat([Buffer.from('"'), Buffer.alloc(1_000, 0xff), Buffer.from('"')]);
  const written = Buffer.byteLength(JSON.stringify(parseUntrusted(text)));
  expect(written).toBeGreaterThan(3_000);
  expect(canExceedSize(text.length, written - 1)).toBe(true);
});
