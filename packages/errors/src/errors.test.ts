import { isDependencyDown } from './errors';

const errorWith = (message: string, fields: object = {}) => Object.assign(new Error(message), fields);

test.each([
  ['PostgreSQL that goes down', errorWith('terminating connection', { code: '57P01' })],
  ['Prisma without a database server', errorWith("Can't reach database server", { code: 'P1001' })],
  [
    'Prisma, while PostgreSQL recovers from a crash',
    errorWith('Database error. Code: `57P03`. Message: `the database system is starting up`', { code: 'P2039' }),
  ],
  ['a statement that takes too long', errorWith('canceling statement due to statement timeout', { code: '57014' })],
  [
    'Prisma, of a statement that takes too long',
    errorWith('Raw query failed. Code: `57014`. Message: `canceling statement due to statement timeout`', {
      code: 'P2010',
    }),
  ],
  ['Prisma, of a connection that broke', errorWith('Raw query failed. Code: `N/A`. Message: `N/A`', { code: 'P2010' })],
  ['the cause of another error', new Error('not saved', { cause: errorWith('connect', { code: 'ECONNREFUSED' }) })],
])('a dependency is down according to %s', (_who, err) => {
  expect(isDependencyDown(err)).toBe(true);
});

test.each([
  ['a violated constraint', errorWith('duplicate key', { code: '23505' })],
  [
    'Prisma, of a value that does not fit',
    errorWith('Database error. Code: `22P02`. Message: `invalid`', { code: 'P2039' }),
  ],
  ['a bug', new TypeError('undefined is not a function')],
])('%s does not mean that a dependency is down', (_what, err) => {
  expect(isDependencyDown(err)).toBe(false);
});
