/** A PgBouncer in transaction mode before the PostgreSQL of the tests. */
import fs from 'node:fs';
import path from 'node:path';
import { findTool, startAndWait } from '@gantry/platform';
import { Client } from 'pg';
import { POSTGRES_VARIABLE } from './database';
import { reserveFreePort } from './free-port';
import { createTemporaryDir } from './run-dir';
import { setupResource } from './setup-resource';
import { assertTestTool, isToolUnavailable } from './test-tools';

/** PgBouncer refuses to be root. */
const NOBODY_UID = 65_534;

export interface PgBouncer {
  /** The same database, through it. */
  through(databaseUrl: string): string;
}

/** The tests need a PgBouncer, which not every Mac has. */
export const describeWithPgBouncer = (name: string, tests: () => void): void =>
  (isToolUnavailable('pgbouncer') ? describe.skip : describe)(name, tests);

/** Before the tests and until after them; each database has `connections` of them to share. */
export const setupPgBouncer = (connections: number): PgBouncer =>
  setupResource(
    () => startPgBouncer(new URL(process.env[POSTGRES_VARIABLE] as string), connections),
    ({ stop }) => stop(),
  );

async function startPgBouncer(server: URL, connections: number): Promise<PgBouncer & { stop(): Promise<void> }> {
  assertTestTool('pgbouncer');
  const port = await reserveFreePort();
  const dir = createTemporaryDir('pgbouncer');
  const file = path.join(dir, 'pgbouncer.ini');
  const password = decodeURIComponent(server.password);
  fs.writeFileSync(
    file,
    `[databases]
* = host=${server.hostname} port=${server.port} user=${server.username} password=${password} connect_query='SET statement_timeout = 10000'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${connections}
max_client_conn = 200
`,
  );
  fs.chmodSync(dir, 0o755);
  const toPgBouncerUrl = (databaseUrl: string) => {
    const url = new URL(databaseUrl);
    url.host = `127.0.0.1:${port}`;
    return url.toString();
  };
  const asRoot = process.getuid?.() === 0;
  const running = await startAndWait({
    name: 'pgbouncer',
    command: findTool('pgbouncer') as string,
    args: [file],
    env: { PATH: process.env.PATH ?? '' },
    ...(asRoot && { uid: NOBODY_UID, gid: NOBODY_UID }),
    stopSignal: 'SIGINT',
    isReady: () => assertConnects(toPgBouncerUrl(server.toString())),
  });
  return { through: toPgBouncerUrl, stop: () => running.stop() };
}

async function assertConnects(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.end();
  return true;
}
