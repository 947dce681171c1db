import { listMismatchMessages } from '../connection-tools/check-arguments';
import { describeDifference, describeMissing, quote, resolvePointer, WHOLE } from './compare-values';
import { includesText } from './includes-text';

const deep = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);

test.each([
  [{ a: 1, b: [true, null] }, { b: [true, null], a: 1 }, 0, null],
  [{ total: 12 }, { total: 11 }, 0, '/total is 11, not 12'],
  [{ total: 12 }, { total: 11.995 }, 0.01, null],
  [{ total: 12 }, { total: '12' }, 1, '/total is "12", not 12'],
  [{ a: 1 }, { a: 1, b: 2 }, 0, '/b is unexpected'],
  [{ a: 1, b: 2 }, { a: 1 }, 0, '/b is missing'],
  [{ rows: [1, 2] }, { rows: [1] }, 0, '/rows has 1 items, not 2'],
  [{ rows: [1, { 'a/b': 2 }] }, { rows: [1, { 'a/b': 3 }] }, 0, '/rows/1/a~1b is 3, not 2'],
  [null, {}, 0, 'the output is {}, not null'],
  [JSON.parse('{"__proto__": 1}'), {}, 0, '/__proto__ is missing'],
])('%j against %j within %d: %s', (expected, actual, tolerance, words) => {
  expect(describeDifference(expected, actual, tolerance, WHOLE)).toBe(words);
});

test('a value that is nested too deep for recursion is only quoted', () => {
  expect(describeDifference(1, deep(200_000), 0, WHOLE)).toMatch('nested too deeply');
  expect(describeDifference([[1]], deep(200_000), 0, WHOLE)).toMatch(/^\/0\/0 is/);
  expect(quote('x'.repeat(1_000))).toHaveLength(201);
});

test.each([
  ['Sales in the North', 'north', true, null],
  ['Sales in the North', 'north', false, 'the output does not contain "north": it is "Sales in the North"'],
  [[1, { a: 2 }], { a: 2 }, false, null],
  [[1, { a: 2, b: 3 }], { a: 2 }, false, 'the output has no item equal to {"a":2}'],
  [{ a: { b: 1, c: 2 }, d: 3 }, { a: { b: 1 } }, false, null],
  [{ a: { b: 1 } }, { a: { b: 2 } }, false, '/a/b is 1, not 2'],
  [{ a: 1 }, { b: 1 }, false, '/b is missing'],
  [12, 1, false, 'the output is 12, which cannot contain 1'],
  ['12', 1, false, 'the output does not contain 1: it is "12"'],
])('%j contains %j (ignoring case: %s): %s', (actual, value, ignoreCase, words) => {
  expect(describeMissing(actual, value, ignoreCase, WHOLE)).toBe(words);
});

test('a pointer leads to own members and items only', () => {
  const value = { 'a/b': [{ '~': 7 }], empty: { '': 1 } };
  expect(resolvePointer(value, '')).toEqual({ value });
  expect(resolvePointer(value, '/a~1b/0/~0')).toEqual({ value: 7 });
  expect(resolvePointer(value, '/empty/')).toEqual({ value: 1 });
  for (const nowhere of ['/a~1b/1', '/a~1b/00', '/a~1b/length', '/constructor', '/empty//x']) {
    expect(resolvePointer(value, nowhere)).toBeNull();
  }
});

test('an output that is too large for its schema does not pass for one that fits', () => {
  const schema = { type: 'array', items: { type: 'integer' } };
  const long = Array.from({ length: 100_001 }, (_, at) => at);
  expect(listMismatchMessages(schema, long.slice(0, 10), WHOLE)).toEqual([]);
  expect(listMismatchMessages(schema, long, WHOLE)).toEqual(['the output is too large to check']);
});

test.each([
  [{ enum: [1, { a: 1, b: 2 }, 'x'] }, [{ b: 2, a: 1 }, 'x', 1], [2, { a: 1 }, 'y']],
  [{ const: { a: [1] } }, [{ a: [1] }], [{ a: [1, 2] }, null]],
  [{ enum: ['x', '1'] }, ['1'], [1, { x: 1 }]],
])('%j is compared with values, not with their texts', (schema, fitting, others) => {
  expect(fitting.map((one) => listMismatchMessages(schema, one, WHOLE))).toEqual(fitting.map(() => []));
  for (const one of others)
    expect(listMismatchMessages(schema, one, WHOLE)).toEqual([expect.stringMatching('must be')]);
});

test('a text is contained at any position, also where it repeats itself', () => {
  const isFound = (text: string, part: string) => includesText(text, part);
  for (const text of ['abacabad', 'aaab', 'ab', '', '😀😁']) {
    for (const part of ['', 'a', 'abad', 'aab', 'b', 'abc', '😁', 'acaba'])
      expect([text, part, isFound(text, part)]).toEqual([text, part, text.includes(part)]);
  }
});
