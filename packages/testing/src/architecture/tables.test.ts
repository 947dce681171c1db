/** One folder owns a table: tables.cjs says which, and no other folder reads or writes it. */
import path from 'node:path';
import {
  findTableUses,
  findTableUsesInSql,
  findTableUsesInTypeScript,
  parseModels,
  readSchema,
  type TableUse,
} from './find-table-uses';

const root = path.resolve(__dirname, '../../../..');

const { TABLES, EXCEPTIONS } = require(path.join(root, 'tables.cjs')) as {
  TABLES: Record<string, string[]>;
  EXCEPTIONS: { files: string[]; tables: string[]; reason: string }[];
};

const ownerOf = new Map(Object.entries(TABLES).flatMap(([folder, tables]) => tables.map((table) => [table, folder])));
const isOwn = ({ file, table }: TableUse): boolean => {
  const owner = ownerOf.get(table);
  return owner !== undefined && (file === owner || file.startsWith(`${owner}/`));
};
const uses = findTableUses(root);
const foreign = uses.filter((use) => !isOwn(use));

test('every table has one owner, which uses it', () => {
  const listed = Object.values(TABLES).flat();
  expect(listed.filter((table, index) => listed.indexOf(table) !== index)).toEqual([]);
  expect(listed.toSorted()).toEqual([...readSchema(root).tables].sort());
  const used = new Set(uses.filter(isOwn).map(({ table }) => table));
  expect(listed.filter((table) => !used.has(table))).toEqual([]);
});

test('no folder uses a table of another one, except for listed exceptions', () => {
  const isExcepted = ({ file, table }: TableUse) =>
    EXCEPTIONS.some(({ files, tables }) => files.includes(file) && tables.includes(table));
  const said = foreign.filter((use) => !isExcepted(use)).map(({ file, line, table }) => `${file}:${line}: ${table}`);
  expect(said).toEqual([]);
});

test('there are at most ten exceptions, each with a reason and needed', () => {
  expect(EXCEPTIONS.length).toBeLessThanOrEqual(10);
  for (const { files, tables, reason } of EXCEPTIONS) {
    const needed = foreign.filter(({ file, table }) => files.includes(file) && tables.includes(table));
    expect([reason, new Set(needed.map(({ file }) => file))]).toEqual([expect.stringMatching(/\.$/), new Set(files)]);
    expect(new Set(needed.map(({ table }) => table))).toEqual(new Set(tables));
  }
});

const schema = {
  tables: new Set(['runs', 'workers', 'worker_versions', 'outbox']),
  models: new Map([['workerVersion', 'worker_versions']]),
};

test.each<[string, string[]]>([
  ['SELECT FROM runs r, workers AS w\n JOIN "worker_versions" v', ['runs 1', 'workers 1', 'worker_versions 2']],
  ['INSERT INTO outbox (id)\n\nSELECT id FROM runs', ['outbox 1', 'runs 3']],
  ['UPDATE ONLY runs SET a = 1', ['runs 1']],
  ['DELETE FROM runs USING workers WHERE true', ['runs 1', 'workers 1']],
  ['WITH RECURSIVE workers (id) AS (SELECT id FROM runs) SELECT FROM workers', ['runs 1']],
  ['reads from runs and changes workers', []],
])('finds the tables of %j', (sql, tables) => {
  expect(findTableUsesInSql(sql, schema).map(({ table, line }) => `${table} ${line}`)).toEqual(tables);
});

test('finds SQL in any text, models of Prisma, and tables that are passed by name', () => {
  const code = `
    const both = \`SELECT \${[
      1,
    ]} FROM runs
      WHERE EXISTS (SELECT FROM \${other} JOIN workers)\`;
    const rows = await deps.prisma.workerVersion.findMany({ where: { runs: {} } });
    for (const model of [tx.workerVersion]) await model.deleteMany();
    await deleteOldRows(pool, 'runs', 'true');
    const TABLES = ['outbox', 'no_table'];
    const label = 'workers';
  `;
  const found = findTableUsesInTypeScript('a.ts', code, schema).map(({ table, line }) => `${table} ${line}`);
  expect(found).toEqual([...['runs 4', 'workers 5', 'worker_versions 6', 'worker_versions 7', 'runs 8', 'outbox 9']]);
});

test('reads the table of each model', () => {
  const text =
    'model RunShareLink {\n  id String @id @default("{}")\n\n  @@map("share_links")\n}\nmodel Plain {\n  id Int\n}\n';
  expect(parseModels(text)).toEqual([
    ['runShareLink', 'share_links'],
    ['plain', 'Plain'],
  ]);
});
