import { createMatchers, createPatternBudget, listPatternProblems, parsePattern } from './user-pattern';

const findProblem = (pattern: string) => listPatternProblems([pattern])[0];
const matches = (pattern: string, text: string) => createMatchers()(pattern)(text, createPatternBudget());

test.each([
  ['(?=a)b', /lookahead \("\(\?=a\)"\), which RE2, the pattern engine, does not support/],
  ['(?<!a)b', /lookbehind \("\(\?<!a\)"/],
  ['(a)\\1', /backreference \("\\1"/],
  ['(?<x>a)\\k<x>', /backreference \("\\k<x>"/],
  ['\\p{ID_Start}', /uses "\\p\{ID_Start\}", which RE2 does not support/],
  ['(', /is not a valid regular expression/],
  ['\\-', /is not a valid regular expression/],
  ['a{1001}', /is too large: it has 1001 states .* at most 1000/],
  ['((a{100}){100}){100}', /is too large: it has 1000000 states/],
  ['(a{0,}){1001}', /is too large/],
  ['('.repeat(250) + ')'.repeat(250), null],
  [`${'('.repeat(251)}${')'.repeat(250)}`, /is longer than 500 characters/],
  ['(?:){1000}', null],
  ['^(\\w|\\d)+$', null],
])('%j is rejected with a reason, or accepted', (pattern, reason) => {
  if (reason) expect(findProblem(pattern)).toMatch(reason);
  else expect(findProblem(pattern)).toBeNull();
});

test('patterns that are fine one by one may be too large together', () => {
  const problems = listPatternProblems(Array.from({ length: 6 }, () => '[a-z]{1000}'));
  expect(problems).toEqual([null, null, null, null, null, expect.stringMatching(/too large in combination/)]);
});

test.each([
  ['\\s', ['\u00a0', '\ufeff', '\u2028', '\u3000', '\v', ' ', '\u200b', 'a']],
  ['^\\S+$', ['a\u00a0b', 'ab', 'a\u2029', '\u180e']],
  ['^[^\\S\\n]$', [' ', '\n', '\u00a0', 'x']],
  ['^[\\S ]+$', ['a b', 'a\tb', 'a\u00a0b']],
  ['^.$', ['\r', '\u2028', '😀', 'a', '\n']],
  ['\\ud83d\\ude00', ['😀', '\ud83d']],
  ['^\\ud83d$', ['😀', '\ud83d']],
  ['^\\p{Surrogate}$', ['\udc00', '😀', 'a']],
  ['^\\p{Letter}+$', ['äЖ字', 'a1']],
  ['^\\p{Script=Greek}\\P{sc=Greek}[\\p{gc=Lu}\\d]$', ['αaA', 'aaA', 'ααA', 'αa9']],
  ['^[\\p{ASCII}]\\P{ASCII}$', ['aä', 'ää']],
  ['^[]|[^]$', ['', 'a', '\n']],
  ['[\\b]', ['\b', 'b']],
  ['\\bé', ['é', 'aé', ' é']],
  ['^(?<year>\\d{4})-\\d\\d$', ['2026-01', 'x2026-01', '2026-01\n']],
  ['a$', ['a\n', 'ba']],
  ['a\\B.\\B', ['abc', 'ab', 'a b']],
  ['\\cJ', ['\n', 'J']],
  ['^\\/\\.\\$\\u0041\\u{1F600}\\0$', ['/.$A😀\0', '/x$A😀\0']],
  ['^[\\w.+-]+@[\\w-]+\\.[\\w.-]+$', ['ada@example.com', 'ada@', 'a b@c.d']],
  ['^(a|ab)(c|bcd)?(d*)$', ['abcd', 'abcdd', 'acb']],
  ['[[:alpha:]', [':', 'b', 'p']],
  ['^[a&&b\\-~~]+$', ['a&b', '~-', 'c']],
])('%j matches as in JavaScript', (pattern, texts) => {
  const native = new RegExp(pattern, 'u');
  const actual = texts.map((text) => [text, matches(pattern, text)]);
  expect(actual).toEqual(texts.map((text) => [text, native.test(text)]));
});

/** Without `\\B`, which V8 matches inside a surrogate pair. */
test('a pattern that JavaScript accepts is rejected, or matches the same', () => {
  const random = createRandom(7);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const atoms = [
    'a',
    'b',
    '.',
    '\\s',
    '\\S',
    '\\w',
    '\\D',
    '[ab]',
    '[^a\\s]',
    '[\\W_]',
    '\\b',
    '^',
    '$',
    'é',
    '\\p{Ll}',
    '\\u{1F600}',
    '(a|b)',
    '(?:ab|)',
    '(?<n>b)',
    '\\x41',
    '(?=b)',
    '[^\\P{L}a]',
  ];
  const times = ['', '', '', '*', '+?', '?', '{2}', '{0,3}', '{1,}'];
  const write = (depth: number): string => {
    const parts = Array.from({ length: 1 + Math.floor(random() * 3) }, () =>
      depth && random() < 0.3 ? `(${write(depth - 1)})${pick(times)}` : pick(atoms) + pick(times),
    );
    return parts.join(random() < 0.2 ? '|' : '');
  };
  let compared = 0;
  for (let n = 0; n < 2_000; n++) {
    const pattern = write(2);
    let native: RegExp;
    try {
      native = new RegExp(pattern, 'u');
    } catch {
      expect(findProblem(pattern)).toBe('is not a valid regular expression');
      continue;
    }
    if ('problem' in parsePattern(pattern)) continue;
    for (let i = 0; i < 3; i++) {
      const text = Array.from({ length: Math.floor(random() * 6) }, () =>
        pick(['a', 'b', 'A', ' ', '\n', 'é', '😀', '_', '\u00a0', '7']),
      ).join('');
      compared++;
      expect([pattern, text, matches(pattern, text)]).toEqual([pattern, text, native.test(text)]);
    }
  }
  expect(compared).toBeGreaterThan(2_000);
});

test('a text is matched only while the work of the request is within its limit', () => {
  const slow = createMatchers()('^(\\w|\\d)+$');
  const budget = createPatternBudget();
  expect(slow(`${'a'.repeat(60)}!`, budget)).toBe(false);
  expect(slow('a'.repeat(60_000), budget)).toBe(true);
  expect(slow('a'.repeat(150_000), budget)).toEqual({ problem: expect.stringMatching(/too long/) });
  expect(slow('a'.repeat(60), budget)).toBe(true);
});

test('a recreated engine gives the same results', () => {
  const matcher = createMatchers()('^[ab]*$');
  const found = Array.from({ length: 60 }, (_, n) =>
    matcher(`${'ab'.repeat(50_000)}${n % 2 ? 'c' : ''}`, createPatternBudget()),
  );
  expect(found).toEqual(found.map((_, n) => n % 2 === 0));
});

/** Creates a deterministic generator: mulberry32. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
