/** A NATS server for one test file, with the users, permissions and streams of the real one. */
import fs from 'node:fs';
import path from 'node:path';
import { connectBus, keepStreams } from '@gantry/events';
import {
  configFileOf,
  findTool,
  type NatsPasswords,
  type NatsUser,
  natsProcess,
  natsUrl,
  natsUsers,
  startAndWait,
  writeNatsConfig,
} from '@gantry/platform';
import { pino } from 'pino';
import { freePort } from './free-port';
import { temporaryDir } from './run-dir';

export interface TestNats {
  url(user: NatsUser): string;
  /** Of a user that hears everything. */
  spectatorUrl: string;
  /** As a crash would: nothing is flushed, clients are not told. */
  kill(): Promise<void>;
  /** Starts it again after `kill` (or stops it first), on the same port and with the same streams. */
  restart(): Promise<void>;
  /** Like kill and restart, and JetStream's store is gone meanwhile. */
  loseStore(): Promise<void>;
  stop(): Promise<void>;
}

export async function startTestNats(): Promise<TestNats> {
  const command = findTool('nats-server');
  if (!command) throw new Error('nats-server was not found, although the test run began by fetching it');
  const passwords = Object.fromEntries(natsUsers.map((user) => [user, `${user}-test`])) as NatsPasswords;
  const options = { command, dir: temporaryDir('nats'), port: await freePort(), passwords };
  writeNatsConfig(options);
  addSpectator(configFileOf(options.dir));
  const spec = natsProcess(options);
  let running = await startAndWait(spec);
  await makeStreams(natsUrl(options, 'worker-api'));
  return {
    url: (user) => natsUrl(options, user),
    spectatorUrl: `nats://spectator:test@127.0.0.1:${options.port}`,
    kill: () => running.kill(),
    restart: async () => {
      await running.stop();
      running = await startAndWait(spec);
    },
    loseStore: async () => {
      await running.kill();
      fs.rmSync(path.join(options.dir, 'streams'), { recursive: true });
      running = await startAndWait(spec);
    },
    stop: () => running.stop(),
  };
}

/** As worker-api does; tests that need no worker-api need its streams all the same. */
async function makeStreams(url: string): Promise<void> {
  const log = pino({ level: 'silent' });
  const bus = await connectBus({ url, name: 'test', log });
  const streams = await keepStreams({ bus, log });
  streams.stop();
  await bus.nc.close();
}

function addSpectator(file: string): void {
  const config = JSON.parse(fs.readFileSync(file, 'utf8'));
  config.authorization.users.push({
    user: 'spectator',
    password: 'test',
    permissions: { publish: ['>'], subscribe: ['>'] },
  });
  fs.writeFileSync(file, JSON.stringify(config));
}
