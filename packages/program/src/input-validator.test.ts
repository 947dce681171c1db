import type { AppError } from '@gantry/http';
import { createInputValidator } from './input-validator';
import { inputItems } from './items';

const validatorOf = (...inputs: unknown[]) => createInputValidator(inputItems.parse(inputs));

function problems(inputs: unknown[], values: Record<string, unknown>): Record<string, string> {
  try {
    validatorOf(...inputs).check(values);
    return {};
  } catch (err) {
    return Object.fromEntries((err as AppError).fields?.map(({ path, message }) => [path, message]) ?? []);
  }
}

test('defaults are filled in, also for what is required', () => {
  const inputs = validatorOf(
    { name: 'n', type: 'integer', required: true, default: 3 },
    { name: 'tags', type: 'json', default: [] },
  );
  const first = inputs.check({});
  expect(first).toEqual({ n: 3, tags: [] });
  (first.tags as string[]).push('changed');
  expect(inputs.check({})).toEqual({ n: 3, tags: [] });
});

test("the caller's own object is left as it was", () => {
  const given = {};
  validatorOf({ name: 'n', type: 'integer', default: 3 }).check(given);
  expect(given).toEqual({});
});

test('every wrong input is named at once', () => {
  expect(problems(['who', { name: 'n', type: 'integer' }], { n: 'x', other: 1 })).toEqual({
    'inputs.who': 'is required',
    'inputs.n': 'must be integer',
    'inputs.other': 'unknown input; known: who, n',
  });
});

test.each<[item: object, good: unknown[], bad: unknown[]]>([
  [{ type: 'text' }, ['', 'x'], [1, null, ['x'], {}]],
  [{ type: 'text', required: true }, ['x'], ['']],
  [{ type: 'text', min_length: 2, max_length: 3 }, ['ab', 'abc'], ['a', 'abcd']],
  [{ type: 'text', pattern: '^[a-z]+$' }, ['abc'], ['ABC', 'a1']],
  [{ type: 'number', minimum: 0, maximum: 1 }, [0, 0.5, 1], [-1, 2, '0.5', Number.NaN]],
  [{ type: 'integer' }, [1, 1.0], [1.5, '1', true]],
  [{ type: 'boolean' }, [true, false], ['true', 0, null]],
  [{ type: 'select', options: ['a', { value: 2, label: 'Two' }] }, ['a', 2], ['b', '2', null]],
  [{ type: 'date' }, ['2024-02-29'], ['2023-02-29', '2024-13-01', '29.2.2024', 'tomorrow', '']],
  [{ type: 'url' }, ['https://a.test/x?y', 'HTTP://A.test'], ['ftp://a.test', 'javascript:alert(1)', 'a.test', '']],
  [{ type: 'json' }, [null, 1, 'x', [], { a: { b: 1 } }], []],
  [
    { type: 'file' },
    [
      { name: 'a.csv', content_base64: 'YQ==' },
      { name: '📄.csv', storageKey: 'k' },
    ],
    [
      'a.csv',
      {},
      { name: '../a' },
      { name: 'a/b' },
      { name: 'a\\b' },
      { name: 'a\ud800' },
      { name: 'a', path: '/etc/passwd' },
    ],
  ],
])('%j takes %j and not %j', (item, good, bad) => {
  for (const value of good) expect([value, problems([{ name: 'i', ...item }], { i: value })]).toEqual([value, {}]);
  for (const value of bad) expect([value, problems([{ name: 'i', ...item }], { i: value })]).not.toEqual([value, {}]);
});

test('a pattern that would take for ever is cut off', () => {
  const started = performance.now();
  expect(problems([{ name: 'i', pattern: '^(a+)+$' }], { i: `${'a'.repeat(40)}!` })).toHaveProperty(['inputs.i']);
  expect(performance.now() - started).toBeLessThan(5_000);
});

test('names that mean something to JavaScript are just unknown', () => {
  expect(problems(['who'], { who: 'x', toString: 'y', valueOf: 1 })).toHaveProperty(['inputs.toString']);
});
