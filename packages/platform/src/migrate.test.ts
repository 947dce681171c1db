import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { createDatabase, createTemporaryDir, describeWithPgBouncer, setupPgBouncer } from '@gantry/testing';
import { migrate } from './migrate';
import { reportMigrations } from './migrate-status';
import { queryDatabase } from './test/query-database';

const first = { '1_first': 'CREATE TABLE thing (id TEXT NOT NULL, CONSTRAINT thing_pkey PRIMARY KEY (id));' };
const second = { '2_second': 'ALTER TABLE thing ADD COLUMN size INTEGER;' };

function migrations(
  files: Record<string, string>,
  dir = path.join(createTemporaryDir('prisma'), 'migrations'),
): string {
  for (const [name, sql] of Object.entries(files)) {
    fs.mkdirSync(path.join(dir, name), { recursive: true });
    fs.writeFileSync(path.join(dir, name, 'migration.sql'), sql);
  }
  fs.writeFileSync(path.join(dir, 'migration_lock.toml'), 'provider = "postgresql"\n');
  return dir;
}

test('each migration is applied once, in order, also when several starters come at once', async () => {
  const { url } = await createDatabase('empty');
  const dir = migrations({ ...second, ...first });
  const outcomes = await Promise.all([1, 2, 3].map(() => migrate(url, dir)));
  expect(outcomes.flatMap((outcome) => outcome.applied).sort()).toEqual(['1_first', '2_second']);
  expect(
    await queryDatabase(url, 'SELECT migration_name AS name FROM _prisma_migrations ORDER BY finished_at'),
  ).toEqual([{ name: '1_first' }, { name: '2_second' }]);
  expect(await migrate(url, dir)).toMatchObject({ applied: [] });
});

describeWithPgBouncer('through PgBouncer in transaction mode', () => {
  const pgbouncer = setupPgBouncer(5);
  test('each migration is applied once, and no lock stays behind', async () => {
    const { url } = await createDatabase('empty');
    const dir = migrations({ ...second, ...first });
    const outcomes = await Promise.all([1, 2, 3].map(() => migrate(pgbouncer.through(url), dir)));
    expect(outcomes.flatMap((outcome) => outcome.applied).sort()).toEqual(['1_first', '2_second']);
    const held = `SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory' AND database =
      (SELECT oid FROM pg_database WHERE datname = current_database())`;
    expect(await queryDatabase(url, held)).toEqual([{ n: 0 }]);
  });
});

test('a migration that was changed after it was applied is refused', async () => {
  const { url } = await createDatabase('empty');
  const dir = migrations(first);
  await migrate(url, dir);
  migrations({ '1_first': 'CREATE TABLE thing (id UUID PRIMARY KEY);', ...second }, dir);
  await expect(migrate(url, dir)).rejects.toThrow('1_first was changed after it was applied');
  expect(await queryDatabase(url, 'SELECT count(*)::int AS n FROM _prisma_migrations')).toEqual([{ n: 1 }]);
});

test('the migrations of several folders are applied in one order, and none again that moves to another folder', async () => {
  const { url } = await createDatabase('empty');
  const [own, shared] = [migrations(first), migrations({ ...second, '0_zeroth': 'CREATE TABLE other (id INT);' })];
  expect((await migrate(url, own, shared)).applied).toEqual(['0_zeroth', '1_first', '2_second']);
  expect(await migrate(url, migrations({ ...first, ...second }), `${shared}/missing`)).toEqual({
    applied: [],
    unknown: ['0_zeroth'],
  });
  migrations({ '2_second': 'ALTER TABLE thing ADD COLUMN length INTEGER;' }, shared);
  await expect(migrate(url, own, shared)).rejects.toThrow(`restore ${shared}/2_second/migration.sql`);
});

test('a report lists each migration with its state, and its exit code shows whether this code can run', async () => {
  const { url } = await createDatabase('empty');
  const dir = migrations({ ...first, ...second });
  expect(await reportMigrations(url, dir)).toEqual({
    lines: ['pending 1_first', 'pending 2_second', '2 pending: run "migrate"'],
    exitCode: 1,
  });
  expect(await queryDatabase(url, "SELECT to_regclass('_prisma_migrations') AS made")).toEqual([{ made: null }]);
  await migrate(url, dir);
  expect(await reportMigrations(url, dir)).toEqual({
    lines: ['applied 1_first', 'applied 2_second', 'up to date'],
    exitCode: 0,
  });
  expect(await reportMigrations(url, migrations(first))).toEqual({
    lines: [
      'applied 1_first',
      'unknown 2_second',
      'this code is older than the database, as expected after a rollback',
    ],
    exitCode: 0,
  });
  migrations({ '1_first': 'CREATE TABLE other ();' }, dir);
  expect(await reportMigrations(url, dir)).toMatchObject({
    lines: ['applied 2_second', 'changed 1_first', expect.stringContaining('restore the files')],
    exitCode: 2,
  });
});

test('two folders cannot have the same migration', async () => {
  const { url } = await createDatabase('empty');
  await expect(migrate(url, migrations(first), migrations(first))).rejects.toThrow(
    'two folders contain migration 1_first',
  );
  expect(await queryDatabase(url, "SELECT to_regclass('thing') AS thing")).toEqual([{ thing: null }]);
});

test('code that is older than the database starts, and names the migrations that it does not know', async () => {
  const { url } = await createDatabase('empty');
  await migrate(url, migrations({ ...first, ...second }));
  expect(await migrate(url, migrations(first))).toEqual({ applied: [], unknown: ['2_second'] });
});

test('a migration that fails leaves nothing behind and can be corrected', async () => {
  const { url } = await createDatabase('empty');
  const dir = migrations({ ...first, '2_second': 'CREATE TABLE half (id INT); SELECT 1/0;' });
  await expect(migrate(url, dir)).rejects.toThrow('2_second failed and was rolled back: division by zero');
  expect(await queryDatabase(url, "SELECT to_regclass('half') AS half")).toEqual([{ half: null }]);
  expect(await migrate(url, migrations(second, dir))).toMatchObject({ applied: ['2_second'] });
});

test('Prisma and this migrator agree on what is applied, both ways', async () => {
  const { url } = await createDatabase('empty');
  const dir = migrations(first);
  const project = path.dirname(dir);
  fs.writeFileSync(path.join(project, 'schema.prisma'), 'datasource db {\n  provider = "postgresql"\n}\n');
  const config = { schema: path.join(project, 'schema.prisma'), migrations: { path: dir }, datasource: { url } };
  fs.writeFileSync(path.join(project, 'prisma.config.mjs'), `export default ${JSON.stringify(config)}`);
  const prisma = (...args: string[]) =>
    execFileSync(process.execPath, [require.resolve('prisma/build/index.js'), 'migrate', ...args], {
      cwd: project,
      env: {
        ...process.env,
        PRISMA_SCHEMA_ENGINE_BINARY: path.resolve(__dirname, '../schema-engine.mjs'),
        CHECKPOINT_DISABLE: '1',
        NO_COLOR: '1',
      },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });

  await migrate(url, dir);
  expect(prisma('status')).toContain('Database schema is up to date');

  migrations(second, dir);
  expect(prisma('deploy')).toContain('2_second');
  expect(await migrate(url, dir)).toMatchObject({ applied: [] });

  const byPrisma = await createDatabase('empty');
  config.datasource.url = byPrisma.url;
  fs.writeFileSync(path.join(project, 'prisma.config.mjs'), `export default ${JSON.stringify(config)}`);
  prisma('deploy');
  const shape = `SELECT column_name, data_type, character_maximum_length, is_nullable, column_default
    FROM information_schema.columns WHERE table_name = '_prisma_migrations' ORDER BY ordinal_position`;
  expect(await queryDatabase(url, shape)).toEqual(await queryDatabase(byPrisma.url, shape));
  const content = `SELECT migration_name, checksum, applied_steps_count, logs, rolled_back_at,
    finished_at IS NOT NULL AS finished FROM _prisma_migrations ORDER BY migration_name`;
  expect(await queryDatabase(url, content)).toEqual(await queryDatabase(byPrisma.url, content));
});
