/**
 * The PostgreSQL of a data directory: the one that works there already, else one that is started for this purpose
 * only.
 */
import fs from 'node:fs';
import path from 'node:path';
import { Client } from 'pg';
import { findFreePort } from '../postgres/free-port';
import { buildPostgresSpec, buildPostgresUrl } from '../postgres/postgres';
import { databases, type ServiceName } from '../service-names';
import type { Supervisor } from '../supervise/supervise';

export type GetDatabaseUrl = (service: ServiceName) => string;

const createDatabaseUrlResolver =
  (port: number, password: string): GetDatabaseUrl =>
  (service) =>
    buildPostgresUrl({ port, password }, databases[service].name);

/** A server that is frozen accepts a connection and says nothing. */
const CONNECT_MS_MAX = 10_000;
/** PostgreSQL's code for "no connection is left". */
const TOO_MANY_CONNECTIONS = '53300';

/** Undefined where none answers. @throws Error where one works there and takes no connection */
export async function findRunningPostgres(dataDir: string, password: string): Promise<GetDatabaseUrl | undefined> {
  const pidFile = path.join(dataDir, 'postgres/postmaster.pid');
  if (!fs.existsSync(pidFile)) return undefined;
  // The fourth line of PostgreSQL's lock file.
  const addressOf = createDatabaseUrlResolver(Number(fs.readFileSync(pidFile, 'utf8').split('\n')[3]), password);
  const client = new Client({ connectionString: addressOf('worker-api'), connectionTimeoutMillis: CONNECT_MS_MAX });
  try {
    await client.connect();
    return addressOf;
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== TOO_MANY_CONNECTIONS) return undefined;
    throw new Error('PostgreSQL has no free connections for a backup: try again when it is less busy', { cause });
  } finally {
    await client.end();
  }
}

/**
 * It ends with this process at the latest.
 * @param supervisor keeps any other launcher out of the data directory
 */
export async function startTemporaryPostgres(
  supervisor: Supervisor,
  dataDir: string,
  password: string,
): Promise<GetDatabaseUrl> {
  const port = await findFreePort();
  // Before anything else that happens then: its directory may be removed.
  process.prependOnceListener('exit', () => supervisor.kill());
  await supervisor.start(await buildPostgresSpec({ dataDir: path.join(dataDir, 'postgres'), port, password }));
  return createDatabaseUrlResolver(port, password);
}
