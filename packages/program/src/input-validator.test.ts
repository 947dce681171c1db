import type { AppError } from '@gantry/errors';
import { createInputValidator } from './input-validator';
import { inputItems, storedInputItems } from './items';
import { buildSampleInputs } from './sample-inputs';

const createValidator = (...inputs: unknown[]) => createInputValidator(inputItems.parse(inputs));

function collectProblems(inputs: unknown[], values: Record<string, unknown>): Record<string, string> {
  try {
    createValidator(...inputs).check(values);
    return {};
  } catch (err) {
    return Object.fromEntries((err as AppError).fields?.map(({ path, message }) => [path, message]) ?? []);
  }
}

test('defaults are filled in, also for required inputs', () => {
  const inputs = createValidator(
    { name: 'n', type: 'integer', required: true, default: 3 },
    { name: 'tags', type: 'json', default: [] },
  );
  const first = inputs.check({});
  expect(first).toEqual({ n: 3, tags: [] });
  (first.tags as string[]).push('changed');
  expect(inputs.check({})).toEqual({ n: 3, tags: [] });
});

test("the caller's own object is not modified", () => {
  const given = {};
  createValidator({ name: 'n', type: 'integer', default: 3 }).check(given);
  expect(given).toEqual({});
});

test('every wrong input is named at once', () => {
  expect(collectProblems(['who', { name: 'n', type: 'integer' }], { n: 'x', other: 1 })).toEqual({
    'inputs.who': 'is required',
    'inputs.n': 'must be a whole number',
    'inputs.other': 'unknown input; known: who, n',
  });
});

test.each<[item: object, value: unknown, said: string]>([
  [{ type: 'text' }, 7, 'must be a text'],
  [{ type: 'text', required: true }, '', 'must not be empty'],
  [{ type: 'text', min_length: 2 }, 'a', 'needs at least 2 characters'],
  [{ type: 'text', max_length: 3 }, 'abcd', 'may have at most 3 characters'],
  [{ type: 'text', pattern: '^[a-z0-9][a-z0-9-]+$' }, 'A', 'must match ^[a-z0-9][a-z0-9-]+$'],
  [{ type: 'number', maximum: 1 }, 2, 'must be 1 or less'],
  [{ type: 'boolean' }, 'true', 'must be true or false'],
  [{ type: 'select', options: ['a', 'b'] }, 'c', 'must be one of: a, b'],
  [{ type: 'date' }, 'tomorrow', 'must be a date, such as 2026-01-05'],
  [{ type: 'url' }, 'ftp://a.test', 'must be a URL that begins with http:// or https://'],
  [{ type: 'file' }, 'a.csv', 'must be a file with a name and either content_base64 or the storageKey of an upload'],
])('%j rejects %j with the message: %s', (item, value, message) => {
  expect(collectProblems([{ name: 'i', ...item }], { i: value })).toEqual({ 'inputs.i': message });
});

test('a file whose name is a path is rejected with a clear message', () => {
  const found = collectProblems([{ name: 'i', type: 'file' }], { i: { name: 'a/b' } });
  expect(found).toEqual({ 'inputs.i.name': 'must be a file name without / or \\' });
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
])('%j accepts %j and not %j', (item, good, bad) => {
  for (const value of good)
    expect([value, collectProblems([{ name: 'i', ...item }], { i: value })]).toEqual([value, {}]);
  for (const value of bad)
    expect([value, collectProblems([{ name: 'i', ...item }], { i: value })]).not.toEqual([value, {}]);
});

test.each(['^(a+)+$', '^(\\w|\\d)+$', '^(a|a)*?$', '(a*)*(a*)*$'])(
  'the pattern %j takes time linear in the length of the text',
  (pattern) => {
    const inputs = createValidator({ name: 'i', pattern }, { name: 'j', pattern });
    const text = `${'a'.repeat(5_000)}!`;
    const [first, second] = inputs.listProblems({ i: text, j: text });
    const found = /^\(a\*/.test(pattern)
      ? undefined
      : { path: 'inputs.i', message: expect.stringMatching(/must match/) };
    expect([first, second?.path]).toEqual([found, found && 'inputs.j']);
  },
);

test('all texts of a request share one limit for their patterns', () => {
  const items = Array.from({ length: 100 }, (_, n) => ({ name: `i${n}`, pattern: '^[a-z]+$' }));
  const inputs = createValidator(...items);
  const values = (chars: number) => Object.fromEntries(items.map(({ name }) => [name, 'a'.repeat(chars)]));
  expect(inputs.listProblems(values(1_000))).toEqual([]);
  const refused = inputs.listProblems(values(10_000));
  expect(refused.length).toBeGreaterThan(50);
  expect(refused.at(-1)).toEqual({ path: 'inputs.i99', message: 'is too long to be matched against its pattern' });
  expect(inputs.listProblems(values(1_000))).toEqual([]);
});

test('stored items with a pattern that is no longer supported can be read, and reject the values to check', () => {
  const stored = storedInputItems.parse([{ name: 'code', pattern: '^(?=a)', required: true }, 'note']);
  const inputs = createInputValidator(stored);
  expect(inputs.schema.properties.code).toMatchObject({ pattern: '^(?=a)' });
  expect(inputs.listProblems({ code: 'a', note: 'x' })).toEqual([
    {
      path: 'inputs.code',
      message: expect.stringMatching(/lookahead .* does not support.* Rewrite or remove the pattern/),
    },
  ]);
  expect(inputItems.safeParse(stored).error?.issues).toMatchObject([
    { path: [0, 'pattern'], message: expect.stringMatching(/lookahead/) },
  ]);
});

test('examples are generated from patterns only while that is cheap', () => {
  const wild = '^((a*)*)*(b{40}){10}$';
  const items = [
    { name: 'wild', pattern: wild, min_length: 9_000 },
    ...['^\\d{4}-\\d{2}$', '^[A-Z]{2,3}$'].map((pattern, n) => ({ name: `i${n}`, pattern })),
  ];
  expect(buildSampleInputs(inputItems.parse(items))).toEqual({ i0: expect.stringMatching(/^\d{4}-\d{2}$/), i1: 'AB' });
});

test('names of JavaScript’s own properties are unknown inputs', () => {
  expect(collectProblems(['who'], { who: 'x', toString: 'y', valueOf: 1 })).toHaveProperty(['inputs.toString']);
});
