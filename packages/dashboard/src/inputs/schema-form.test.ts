import { buildInitialValues, parseFieldValues } from './field-values';
import { buildSchemaForm } from './schema-form';

const schema = {
  type: 'object',
  properties: {
    title: { type: 'string', description: 'In one line' },
    body: { type: 'string' },
    priority: { type: 'integer', minimum: 1 },
    state: { enum: ['open', 'closed'] },
    draft: { type: 'boolean' },
    labels: { type: 'array' },
  },
  required: ['title', 'priority'],
};

function fill(initial: Record<string, unknown>, typed: Record<string, string> = {}, of: object | null = schema) {
  const form = buildSchemaForm(of as Record<string, unknown> | null, initial, 'c1');
  const begun = new Map(buildInitialValues(form.items, form.values));
  for (const [key, text] of Object.entries(typed)) begun.set(`c1.${key}`, text);
  const { inputs, problems } = parseFieldValues(form.items, begun);
  return { form, problems, object: problems.size ? null : form.toObject(inputs) };
}

test('each property is a field of its type, also one that only the value has', () => {
  const { form } = fill({ title: 'x', body: 'two\nlines', other: [1] });
  expect(form.items.map(({ label, type }) => `${label} ${type}`)).toEqual([
    ...['title text', 'body textarea', 'priority integer', 'state select', 'draft select', 'labels json', 'other json'],
  ]);
  expect(form.items[0]).toMatchObject({ name: 'c1.title', description: 'In one line' });
});

test('unchanged values stay exactly as they were, absent or empty, and changed ones have their type', () => {
  const initial = { title: '', priority: 1, other: { a: [1] } };
  expect(fill(initial).object).toEqual(initial);
  expect(fill(initial, { priority: '2', state: 'closed', draft: 'false', labels: '["a"]' }).object).toEqual({
    ...initial,
    priority: 2,
    state: 'closed',
    draft: false,
    labels: ['a'],
  });
  expect(fill({ title: 'x', body: 'y', priority: 1 }, { title: '', body: '' }).object).toEqual({
    title: '',
    priority: 1,
  });
});

test('a value that does not fit its type is a field of JSON, and invalid text is a problem of its field', () => {
  const { form } = fill({ title: 7, priority: 'high' });
  expect(form.items.slice(0, 3).map(({ type }) => type)).toEqual(['json', 'text', 'json']);
  expect([...fill({ title: 'x', priority: 1 }, { priority: 'two' }).problems.keys()]).toEqual(['c1.priority']);
});

test('without a schema the arguments are one field of JSON, which takes an object only', () => {
  expect(fill({ a: 1 }, {}, null).object).toEqual({ a: 1 });
  expect(fill({ a: 1 }, { '': '{"a": 2}' }, null).object).toEqual({ a: 2 });
  expect(() => fill({ a: 1 }, { '': '[1]' }, null)).toThrow('Enter a JSON object.');
});
