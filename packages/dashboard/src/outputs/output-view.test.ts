import type { OutputItem } from '../shell/api';
import { parseCsv, toCsv } from './csv';
import { buildOutputViews } from './output-view';
import { compareCells } from './table-data';

const artifact = (id: string, name: string) => ({
  id,
  name,
  contentType: 'image/png',
  size: 1,
  sha256: '',
  url: `/${id}`,
});
const buildSingleView = (type: OutputItem['type'], value: unknown, artifacts = [artifact('af_1', 'plot.png')]) =>
  buildOutputViews([{ name: 'plot', type }], { plot: value }, artifacts);

test('an output that does not fit its declared type is still shown', () => {
  const as = (type: OutputItem['type'], value: unknown) =>
    buildSingleView(type, value, []).drawn.map((output) => output.as);
  expect(as('table', 'no rows today')).toEqual(['text']);
  expect(as('table', { a: 1 })).toEqual(['json']);
  expect(as('number', '12.5')).toEqual(['number']);
  expect(as('number', 'many')).toEqual(['text']);
  expect(as('number', null)).toEqual(['json']);
  expect(as('markdown', ['a'])).toEqual(['json']);
  expect(as('image', 'data:text/html,<p>')).toEqual(['text']);
  expect(as('image', 'data:image/png;base64,AAAA')).toEqual(['image']);
  expect(as('text', 5)).toEqual(['text']);
});

test('a file is found by id, by name, inside an object, or by the name of its output; the others are listed', () => {
  const files = [artifact('af_1', 'plot.png'), artifact('af_2', 'other.csv')];
  for (const value of ['af_1', 'plot.png', { name: 'plot.png' }, { artifact_id: 'af_1' }, null]) {
    const { drawn, unclaimed } = buildSingleView('image', value, files);
    expect(drawn).toMatchObject([{ as: 'image', url: '/af_1' }]);
    expect(unclaimed).toEqual([files[1]]);
  }
});

test('an undeclared output is rendered by its value', () => {
  const outputs = { rows: [{ a: 1 }, { b: 2 }], constructor: 'a', none: [] };
  expect(buildOutputViews([], outputs, []).drawn).toMatchObject([
    {
      as: 'table',
      table: {
        columns: ['a', 'b'],
        rows: [
          [1, null],
          [null, 2],
        ],
      },
    },
    { as: 'text', text: 'a' },
    { as: 'json' },
  ]);
});

test('CSV keeps quotes, commas, line ends and empty rows, and disarms formulas', () => {
  const text = 'a,b\r\n"1,5","say ""hi""\nthere"\n,x';
  const table = parseCsv(text);
  expect(table).toEqual({
    columns: ['a', 'b'],
    rows: [
      ['1,5', 'say "hi"\nthere'],
      ['', 'x'],
    ],
  });
  expect(parseCsv(toCsv(table))).toEqual(table);
  expect(parseCsv('\ufeffc\n1\n\n""\n3\n')).toEqual({ columns: ['c'], rows: [['1'], [''], [''], ['3']] });
  const cells = ['=1+1', '  @SUM(A1)', '-2+3', '\tx', '-5', 'fine'];
  expect(toCsv({ columns: ['c'], rows: [...cells.map((cell) => [cell]), [-7]] })).toBe(
    'c\r\n"\'=1+1"\r\n"\'  @SUM(A1)"\r\n"\'-2+3"\r\n"\'\tx"\r\n-5\r\nfine\r\n-7\r\n',
  );
});

test('cells sort as expected: numbers by size, then text, then empty ones', () => {
  expect(['b', '', 10, '9', null, 'a10', 'a2'].toSorted(compareCells)).toEqual(['9', 10, 'a2', 'a10', 'b', '', null]);
});
