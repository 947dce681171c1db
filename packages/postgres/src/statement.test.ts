import { createRowSet, createStatement } from './statement';

const find = createStatement('find-things', 'SELECT $id::text, $at WHERE id = $id AND at > $at');

test('a name that occurs twice is one parameter, in whatever order the values are given', () => {
  expect(find({ at: 2, id: 'a' })).toEqual({
    name: 'find-things',
    text: 'SELECT $1::text, $2 WHERE id = $1 AND at > $2',
    values: ['a', 2],
  });
});

test('a value that is missing is an error, and null is a value', () => {
  expect(() => find({ id: 'a' })).toThrow('find-things: no value for $at');
  expect(find({ id: null, at: 0 }).values).toEqual([null, 0]);
});

test('rows are a table of one array for each column', () => {
  const things = createRowSet<{ id: string; size: number }>('t', {
    id: ['text', ({ id }) => id],
    size: ['int', ({ size }) => size],
  });
  const insert = createStatement(undefined, `INSERT INTO things SELECT * FROM ${things.sql}`);
  expect(
    insert(
      things.params([
        { id: 'a', size: 1 },
        { id: 'b', size: 2 },
      ]),
    ),
  ).toEqual({
    text: 'INSERT INTO things SELECT * FROM unnest($1::text[], $2::int[]) AS t(id, size)',
    values: [
      ['a', 'b'],
      [1, 2],
    ],
  });
});
