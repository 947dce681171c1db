/** Servers with a configuration of a test's own. */
import fs from 'node:fs';
import path from 'node:path';
import {
  buildPostgresSpec,
  buildPostgresUrl,
  findTool,
  isHealthy,
  listServiceMigrationFolders,
  migrate,
  type RunningProcess,
  type ServiceName,
  startAndWait,
} from '@gantry/platform';
import type { Certificate } from './certificates';
import { reserveFreePort } from './free-port';
import { createTemporaryDir } from './run-dir';

const READY_MS = 1_000;

export interface TestPostgres {
  /** Address of its database `postgres`. */
  url: string;
  server: RunningProcess;
}

/** @returns with an address on `localhost` */
export async function startPostgresWithTls({ cert, key }: Certificate): Promise<TestPostgres> {
  const { url, server } = await startTestPostgres({ ssl: 'on', ssl_cert_file: cert, ssl_key_file: key }, [key]);
  return { url: url.replace('127.0.0.1', 'localhost'), server };
}

/** A server whose one database has the tables of the service. */
export async function startMigratedPostgres(
  service: ServiceName,
  settings: Record<string, string>,
): Promise<TestPostgres> {
  const started = await startTestPostgres(settings);
  await migrate(started.url, ...listServiceMigrationFolders(service));
  return started;
}

/** @param serverFiles files that only the server's user may read */
async function startTestPostgres(settings: Record<string, string>, serverFiles: string[] = []): Promise<TestPostgres> {
  const options = {
    dataDir: createTemporaryDir('own-postgres'),
    port: await reserveFreePort(),
    password: 'pw',
    durable: false,
  };
  const spec = await buildPostgresSpec(options);
  for (const file of serverFiles) if (spec.uid !== undefined) fs.chownSync(file, spec.uid, spec.uid);
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = await startAndWait({ ...spec, args: [...spec.args, ...args] });
  return { url: buildPostgresUrl(options, 'postgres'), server };
}

export async function startNatsServer(config: object): Promise<{ port: number; server: RunningProcess }> {
  const [dir, port, monitoringPort] = [createTemporaryDir('nats'), await reserveFreePort(), await reserveFreePort()];
  const file = path.join(dir, 'nats.conf');
  fs.writeFileSync(file, JSON.stringify({ ...config, host: '127.0.0.1', port, http: `127.0.0.1:${monitoringPort}` }));
  const server = await startAndWait({
    name: 'nats',
    command: findTool('nats-server') as string,
    args: ['-c', file],
    env: {},
    isReady: () => isHealthy({ port: monitoringPort, paths: ['/healthz'] }, READY_MS),
  });
  return { port, server };
}
