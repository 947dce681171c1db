import { listToolArguments } from './tool-arguments';

const describeArguments = (schema: Record<string, unknown>) =>
  listToolArguments(schema).map(({ path, type, isRequired, limits }) => [path, type, isRequired, limits]);

test('arguments are described, and properties of objects and lists follow them', () => {
  const properties = {
    title: { type: 'string', maxLength: 80 },
    day: { type: 'string', format: 'date' },
    labels: { type: 'array', items: { type: 'string' }, maxItems: 5 },
    people: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
    state: { enum: ['open', 'done'], default: 'open' },
    either: { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }] },
  };
  expect(describeArguments({ type: 'object', required: ['title'], properties })).toEqual([
    ['title', 'Text', true, 'up to 80 characters'],
    ['day', 'Text: date', false, ''],
    ['labels', 'List: text', false, 'up to 5 items'],
    ['people', 'List: object', false, ''],
    ['people[].name', 'Text', false, ''],
    ['state', 'One of', false, 'open, done; default: open'],
    ['either', 'Whole number or null', false, ''],
  ]);
});

test('untrusted schemas are bounded, and invalid schemas are omitted', () => {
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`a${at}`, { type: 'string' }]));
  expect(listToolArguments({ properties: many })).toHaveLength(100);
  let deep: Record<string, unknown> = { type: 'string' };
  for (let at = 0; at < 40; at++) deep = { type: 'object', properties: { a: deep } };
  expect(describeArguments(deep).map(([path]) => path)).toEqual(['a', 'a.a', 'a.a.a', 'a.a.a.a']);
  const odd = { properties: { a: null, b: 'text', c: { type: ['constructor', 7], enum: 'no' }, d: { items: [] } } };
  expect(describeArguments(odd)).toEqual(['a', 'b', 'c', 'd'].map((name) => [name, 'Any', false, '']));
  for (const properties of [[], null, 'text', undefined]) expect(listToolArguments({ properties })).toEqual([]);
});
