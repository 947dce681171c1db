/** Servers with a configuration of a test's own. */
import fs from 'node:fs';
import path from 'node:path';
import { answers, findTool, postgresProcess, postgresUrl, type RunningProcess, startAndWait } from '@gantry/platform';
import type { Certificate } from './certificates';
import { freePort } from './free-port';
import { temporaryDir } from './run-dir';

const READY_MS = 1_000;

/** @returns the address of its database `postgres`, on `localhost` */
export async function startPostgresWithTls({
  cert,
  key,
}: Certificate): Promise<{ url: string; server: RunningProcess }> {
  const options = { dataDir: temporaryDir('tls-postgres'), port: await freePort(), password: 'pw', durable: false };
  const spec = await postgresProcess(options);
  if (spec.uid !== undefined) fs.chownSync(key, spec.uid, spec.uid);
  const ssl = { ssl: 'on', ssl_cert_file: cert, ssl_key_file: key };
  const args = Object.entries(ssl).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = await startAndWait({ ...spec, args: [...spec.args, ...args] });
  return { url: postgresUrl(options, 'postgres').replace('127.0.0.1', 'localhost'), server };
}

export async function startNatsWith(config: object): Promise<{ port: number; server: RunningProcess }> {
  const [dir, port, monitoringPort] = [temporaryDir('nats'), await freePort(), await freePort()];
  const file = path.join(dir, 'nats.conf');
  fs.writeFileSync(file, JSON.stringify({ ...config, host: '127.0.0.1', port, http: `127.0.0.1:${monitoringPort}` }));
  const server = await startAndWait({
    name: 'nats',
    command: findTool('nats-server') as string,
    args: ['-c', file],
    env: {},
    isReady: () => answers({ port: monitoringPort, paths: ['/healthz'] }, READY_MS),
  });
  return { port, server };
}
