import fs from 'node:fs';
import path from 'node:path';
import { createDatabase, createTemporaryDir } from '@gantry/testing';
import { Client } from 'pg';
import { migrate } from '../migrate';
import { type DatabaseShape, openLoader, takeSnapshots } from './database-copy';

const first = `
  CREATE TABLE parent (id TEXT PRIMARY KEY);
  CREATE TABLE child (
    id BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY, parent TEXT NOT NULL REFERENCES parent, text TEXT, json JSONB, bytes BYTEA,
    numbers INT[], "odd name" TEXT, length INT GENERATED ALWAYS AS (length(text)) STORED);
  CREATE TABLE aging (at DATE NOT NULL, id INT NOT NULL) PARTITION BY RANGE (at);
  CREATE INDEX aging_id ON aging (id);
  CREATE TABLE aging_rest PARTITION OF aging DEFAULT;
  INSERT INTO parent VALUES ('made by the migration');`;
const second = 'ALTER TABLE parent ADD COLUMN size INT NOT NULL DEFAULT 7;';

const clients: Client[] = [];
afterEach(() => Promise.all(clients.splice(0).map((client) => client.end())));

async function createConnectedDatabase(): Promise<{ url: string; client: Client }> {
  const { url } = await createDatabase('empty');
  const client = new Client({ connectionString: url });
  clients.push(client);
  await client.connect();
  return { url, client };
}

function writeMigrations(files: Record<string, string>): string {
  const dir = createTemporaryDir('migrations');
  for (const [name, sql] of Object.entries(files)) {
    fs.mkdirSync(path.join(dir, name));
    fs.writeFileSync(path.join(dir, name, 'migration.sql'), sql);
  }
  return dir;
}

async function copy(
  source: string,
  target: string,
  folder: string,
  meanwhile?: () => Promise<unknown>,
): Promise<number> {
  const [snapshot] = await takeSnapshots([{ service: 'worker-api', url: source }]);
  if (!snapshot) throw new Error('no snapshot');
  await meanwhile?.();
  const loader = await openLoader(target, snapshot.shape, [folder]);
  let pieces = 0;
  for (const table of snapshot.shape.tables) {
    for await (const piece of snapshot.rows(table)) {
      pieces++;
      await loader.load(
        table.name,
        (async function* () {
          yield piece;
        })(),
      );
    }
  }
  await loader.commit();
  await loader.close();
  await snapshot.end();
  return pieces;
}

test('a copy has every row as it was, the partitions, the next number and the migrations', async () => {
  const [source, target] = [await createConnectedDatabase(), await createConnectedDatabase()];
  await migrate(source.url, writeMigrations({ '1_first': first }));
  await source.client.query("DELETE FROM parent; INSERT INTO parent VALUES ('p')");
  await source.client.query(
    "CREATE TABLE aging_2026 PARTITION OF aging FOR VALUES FROM ('2026-01-01') TO ('2027-01-01')",
  );
  await source.client.query("INSERT INTO aging VALUES ('2026-05-01', 1), ('1999-01-01', 2)");
  for (const text of ['a\tb\nc\\N\r\n', '\\N', '', null, '\\.\n', 'ü€😀']) {
    await source.client.query(
      `INSERT INTO child (parent, text, json, bytes, numbers, "odd name") VALUES ('p', $1, $2, '\\x000a0d5c', '{1,NULL}', 'x')`,
      [text, JSON.stringify({ text })],
    );
  }
  await source.client.query(
    `INSERT INTO child (parent, text) SELECT 'p', repeat(md5(n::text), 400) FROM generate_series(1, 1000) n`,
  );

  const folder = writeMigrations({ '1_first': first, '2_second': second });
  const pieces = await copy(source.url, target.url, folder, () =>
    source.client.query("INSERT INTO parent VALUES ('later')"),
  );
  expect(pieces).toBeGreaterThan(4);

  const readContent = async ({ client }: { client: Client }) => ({
    child: (await client.query('SELECT * FROM child ORDER BY id')).rows,
    aging: (await client.query('SELECT tableoid::regclass::text, * FROM aging ORDER BY id')).rows,
    indexes: (await client.query("SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1"))
      .rows,
  });
  expect(await readContent(target)).toEqual(await readContent(source));
  expect((await target.client.query('SELECT * FROM parent')).rows).toEqual([{ id: 'p' }]);
  const next = "INSERT INTO child (parent) VALUES ('p') RETURNING id::int";
  expect((await target.client.query(next)).rows).toEqual([{ id: 1007 }]);
  expect((await migrate(target.url, folder)).applied).toEqual(['2_second']);
});

test('a copy has no streams, and its running runs count as begun', async () => {
  const [source, target] = [await createConnectedDatabase(), await createConnectedDatabase()];
  const tables = `CREATE TABLE runs (id TEXT PRIMARY KEY, status TEXT NOT NULL, confirmed BOOLEAN NOT NULL);
    CREATE TABLE run_streams (name TEXT PRIMARY KEY);`;
  const folder = writeMigrations({ '1_first': tables });
  await migrate(source.url, folder);
  await source.client.query("INSERT INTO runs VALUES ('run_1', 'running', false), ('run_2', 'queued', false)");
  await source.client.query("INSERT INTO run_streams VALUES ('RUN_EVENTS')");
  await copy(source.url, target.url, folder);
  expect((await target.client.query('SELECT * FROM run_streams')).rows).toEqual([]);
  expect((await target.client.query('SELECT * FROM runs ORDER BY id')).rows).toEqual([
    { id: 'run_1', status: 'running', confirmed: true },
    { id: 'run_2', status: 'queued', confirmed: false },
  ]);
  expect((await source.client.query('SELECT * FROM run_streams')).rows).toHaveLength(1);
});

describe('a shape that its migrations do not make', () => {
  const migration = '1_first';
  const migrated = { migrations: [migration], tables: [], partitions: [], sequences: [] };
  let folder: string;
  let url: string;

  beforeAll(async () => {
    folder = writeMigrations({ [migration]: first });
    url = (await createDatabase('empty')).url;
  });

  test.each<[string, Partial<DatabaseShape>, string]>([
    ['a table', { tables: [{ name: 'pg_authid', columns: [] }] }, 'pg_authid'],
    ['a column', { tables: [{ name: 'parent', columns: ['id', '"o"" x"'] }] }, 'parent.o" x'],
    ['a sequence', { sequences: [{ name: 'other', value: '1' }] }, 'other'],
    ['a partition of no such table', { partitions: [{ name: 'p', parent: 'q', bound: 'DEFAULT' }] }, 'q'],
    [
      'a partition of a table that has none',
      { partitions: [{ name: 'p', parent: 'child', bound: 'DEFAULT' }] },
      'child',
    ],
  ])('is refused by name: %s', async (_, shape, name) => {
    const opening = openLoader(url, { ...migrated, ...shape }, [folder]);
    await expect(opening).rejects.toThrow(
      `the backup names tables, columns or sequences its migrations do not create: ${name}`,
    );
  });

  test('and rows of a table that it does not describe are refused', async () => {
    const loader = await openLoader(url, migrated, [folder]);
    const nothing = (async function* () {})();
    expect(() => loader.load('parent', nothing)).toThrow('rows for a table, parent, that it does not describe');
    await loader.close();
  });
});
