import { ApiError } from '@gantry/sdk';
import type { InputItem } from '../shell/api';
import { toInputProblems } from './input-problems';
import { parseFieldValue, toInitialValue } from './input-value';

const item = (fields: Partial<InputItem> = {}): InputItem => ({ name: 'x', ...fields });

test.each<[string, Partial<InputItem>, string, unknown]>([
  ['text as it is, with its spaces', {}, ' a ', ' a '],
  ['a number', { type: 'number' }, ' -1.5e3 ', -1500],
  ['a whole number', { type: 'integer', minimum: 1, maximum: 9 }, '9', 9],
  ['a date', { type: 'date' }, '2026-02-28', '2026-02-28'],
  ['a URL', { type: 'url' }, 'https://example.com/a b', 'https://example.com/a b'],
  ['JSON', { type: 'json' }, '[1, null]', [1, null]],
  ['an option with the value that it stands for', { type: 'select', options: [{ value: 3, label: 'Three' }] }, '3', 3],
  [
    'text that violates its pattern, which the server checks',
    { pattern: '^(\\d|\\d)+$' },
    `${'1'.repeat(60)}!`,
    `${'1'.repeat(60)}!`,
  ],
  ['an empty field that had a default', { default: 'old' }, '', ''],
])('reads %s', (_what, fields, typed, value) => {
  expect(parseFieldValue(item(fields), typed)).toEqual({ value });
});

test.each<[string, Partial<InputItem>, string]>([
  ['an empty required field', { required: true }, ''],
  ['only spaces for a required number', { type: 'number', required: true }, '  '],
  ['text for a number', { type: 'number' }, '12 apples'],
  ['a fraction for a whole number', { type: 'integer' }, '1.5'],
  ['a number that is too small', { type: 'number', minimum: 0 }, '-0.1'],
  ['an option that is not in the list', { type: 'select', options: ['a'] }, 'b'],
  ['a script for a URL', { type: 'url' }, 'javascript:alert(1)'],
  ['broken JSON', { type: 'json' }, '{a: 1}'],
  ['text that is too long, counted in visible characters', { max_length: 1 }, '👍👍'],
])('refuses %s', (_what, fields, typed) => {
  expect(parseFieldValue(item(fields), typed)).toHaveProperty('problem');
});

test('an empty optional field is omitted, so that the automation’s own default applies', () => {
  for (const type of ['text', 'number', 'date', 'url', 'json', 'select', 'file'] as const) {
    expect(parseFieldValue(item({ type }), toInitialValue(item({ type })))).toEqual({ absent: true });
  }
});

test('problems from the server go to their fields, whatever the notation of their paths, and others to the form as a whole', () => {
  const refuse = (...paths: string[]) =>
    new ApiError(
      400,
      'invalid',
      'something is wrong',
      paths.map((path) => ({ path, message: `bad ${path}` })),
      null,
    );
  for (const path of ['inputs.x', '/body/inputs/x', 'x', 'inputs.x.0.name']) {
    expect(toInputProblems(refuse(path), [item()])).toEqual(new Map([['x', `bad ${path}`]]));
  }
  expect(toInputProblems(refuse('inputs.other'), [item()])).toEqual(new Map([['', 'something is wrong']]));
  expect(toInputProblems(new TypeError('Failed to fetch'), []).get('')).toMatch(/can’t be reached/);
});
