/** NATS servers that are one cluster, with the accounts, users and permissions of the real one, and without streams. */
import fs from 'node:fs';
import path from 'node:path';
import {
  type Bus,
  buildNatsAuthentication,
  connectBus,
  createServiceCredentials,
  generateNatsSeeds,
  type Service,
} from '@gantry/events';
import { buildNatsSpec, buildNatsUrl, findTool, startAndWait } from '@gantry/platform';
import { pino } from 'pino';
import { reserveFreePort } from './free-port';
import { createTemporaryDir } from './run-dir';

export interface NatsCluster {
  /** Connects to one of the servers, counted from 0; the client finds the others when that one is gone. */
  connect(server: number, service: Service): Promise<Bus>;
  /** Ends a server as a crash would. */
  kill(server: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startNatsCluster(servers: number): Promise<NatsCluster> {
  const command = findTool('nats-server');
  if (!command) throw new Error('nats-server was not found, although the test run began by fetching it');
  const seeds = generateNatsSeeds();
  const places = await Promise.all(
    Array.from({ length: servers }, async (_, number) => ({
      command,
      dir: createTemporaryDir(`nats-${number}`),
      port: await reserveFreePort(),
      monitoringPort: await reserveFreePort(),
      routePort: await reserveFreePort(),
    })),
  );
  const routes = places.map(({ routePort }) => `nats://127.0.0.1:${routePort}`);
  for (const [number, { dir, port, monitoringPort, routePort }] of places.entries()) {
    const config = {
      host: '127.0.0.1',
      port,
      http: `127.0.0.1:${monitoringPort}`,
      server_name: `gantry-${number}`,
      jetstream: { store_dir: path.join(dir, 'streams') },
      cluster: { name: 'gantry', host: '127.0.0.1', port: routePort, routes },
      ...buildNatsAuthentication(seeds),
    };
    fs.writeFileSync(path.join(dir, 'nats.conf'), JSON.stringify(config), { mode: 0o600 });
  }
  const running = await Promise.all(places.map((place) => startAndWait(buildNatsSpec(place))));
  return {
    connect: (server, service) =>
      connectBus({
        url: buildNatsUrl(places[server] as (typeof places)[number]),
        creds: createServiceCredentials(seeds, service),
        name: 'test',
        log: pino({ level: 'silent' }),
      }),
    kill: async (server) => running[server]?.kill(),
    stop: async () => void (await Promise.all(running.map((server) => server.stop()))),
  };
}
