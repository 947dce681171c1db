import fs from 'node:fs';
import path from 'node:path';
import { createCa, createTemporaryDir, setupResource, startPostgresWithTls } from '@gantry/testing';
import { Client } from 'pg';
import { pino } from 'pino';
import { checkDatabase } from './database-problems';
import { readMigrations } from './migrations';

const warnings: string[] = [];
const log = pino({ level: 'warn' }, { write: (line: string) => warnings.push(JSON.parse(line).msg) });
const ca = setupResource(() => createCa());
const otherCa = setupResource(() => createCa());
const server = setupResource(
  () => startPostgresWithTls(ca.issue('DNS:localhost')),
  (started) => started.server.stop(),
);

const checkAt = (url: string, folders: string[] = []) =>
  checkDatabase({ url, service: 'test', migrations: readMigrations(folders), log });
const withCa = (file: string, url = server.url) => `${url}?sslmode=verify-full&sslrootcert=${file}`;

test('a certificate of the CA that the address names is accepted', async () => {
  expect(await checkAt(withCa(ca.file))).toEqual([]);
});

test.each([
  [
    'another CA',
    () => withCa(otherCa.file),
    /^PostgreSQL: its certificate is signed by a CA .* set sslrootcert in DATABASE_URL/,
  ],
  [
    'another name',
    () => withCa(ca.file).replace('localhost', '127.0.0.1'),
    /^PostgreSQL: its certificate is for other names: /,
  ],
  ['a missing CA file', () => withCa('/nowhere/ca.pem'), /^PostgreSQL: the sslrootcert file .* cannot be read/],
  ['a wrong password', () => server.url.replace(':pw@', ':sesame@'), /^PostgreSQL: the password was rejected/],
  ['an unknown database', () => `${server.url}-other`, /^PostgreSQL: the database does not exist/],
  ['a port without a server', () => server.url.replace(/:[0-9]+[/]/, ':1/'), /^PostgreSQL: nothing is listening/],
])('%s is reported in a sentence without secrets', async (_what, url, sentence) => {
  const problems = await checkAt(url());
  expect(problems).toEqual([expect.stringMatching(sentence)]);
  expect(problems.join()).not.toMatch(/sesame|:pw@/);
});

test('pending, changed and unknown migrations are distinguished', async () => {
  const folder = createTemporaryDir('migrations');
  const write = (name: string, sql: string) => {
    fs.mkdirSync(path.join(folder, name), { recursive: true });
    fs.writeFileSync(path.join(folder, name, 'migration.sql'), sql);
  };
  write('1_first', 'CREATE TABLE first ();');
  expect(await checkAt(server.url, [folder])).toEqual(['the database lacks the migration 1_first: run "migrate"']);
  const client = new Client({ connectionString: server.url });
  await client.connect();
  await client.query(`CREATE TABLE _prisma_migrations (migration_name text, checksum text, finished_at timestamptz, rolled_back_at timestamptz);
    INSERT INTO _prisma_migrations VALUES ('1_first', 'of another text', now(), null), ('2_second', 'x', now(), null)`);
  await client.end();
  expect(await checkAt(server.url, [folder])).toEqual([
    'migration 1_first differs from the one applied to the database: deploy the applied version, unchanged',
  ]);
  expect(warnings.at(-1)).toMatch('this code is older than its database');
});
