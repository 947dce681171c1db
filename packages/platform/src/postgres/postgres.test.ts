import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { isAlive } from '../supervise/process';
import { queryDatabase } from '../test/query-database';
import { setupPostgres } from '../test/setup-postgres';
import { buildPostgresUrl } from './postgres';

const server = setupPostgres(`:/@?${randomBytes(8).toString('hex')}`);

const query = (sql: string, address = buildPostgresUrl(server.options, 'postgres')) => queryDatabase(address, sql);

test('connections without the password are refused', async () => {
  await query('SELECT 1');
  const guessed = buildPostgresUrl({ ...server.options, password: 'guess' }, 'postgres');
  await expect(query('SELECT 1', guessed)).rejects.toThrow('password authentication failed');
});

test('it never runs as root', async () => {
  const { stdout } = spawnSync('ps', ['-o', 'uid=', '-p', String(server.process.pid)], { encoding: 'utf8' });
  expect(Number(stdout)).toBeGreaterThan(0);
});

test('a commit survives kill -9 of the whole server', async () => {
  await query('CREATE TABLE kept (id int)');
  await query('INSERT INTO kept SELECT generate_series(1, 1000)');
  await server.process.kill();
  await server.restart();
  expect(await query('SELECT count(*)::int AS n FROM kept')).toEqual([{ n: 1000 }]);
});

test('a server that outlived its launcher is replaced', async () => {
  const leftover = server.process;
  await server.restart();
  expect(isAlive(leftover.pid)).toBe(false);
  expect(await query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

test('a session that outlives a killed server does not prevent the next start', async () => {
  const client = new Client({ connectionString: buildPostgresUrl(server.options, 'postgres') });
  client.on('error', () => {});
  await client.connect();
  const { pid } = (await client.query('SELECT pg_backend_pid() AS pid')).rows[0];
  process.kill(pid, 'SIGSTOP');
  await server.process.kill();
  await server.restart();
  expect(isAlive(pid)).toBe(false);
  await client.end().catch(() => {});
});

test('a commit waits for the disk where that matters', async () => {
  expect(await query('SHOW fsync')).toEqual([{ fsync: 'on' }]);
  expect(await query('SHOW synchronous_commit')).toEqual([{ synchronous_commit: 'on' }]);
});
